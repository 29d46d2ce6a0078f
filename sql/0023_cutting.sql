-- What the workflow leaves of a track: a list of parts with begin and end in milliseconds. Null is all of it.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS kept_parts jsonb;
