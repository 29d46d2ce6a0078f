-- The parts of a track that a workflow keeps, each with begin and end in milliseconds. Null means all of it.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS kept_parts jsonb;
