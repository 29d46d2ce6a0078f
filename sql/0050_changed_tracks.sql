-- When somebody last changed the tracks of an event or how they are cut. A workflow that began before, and is tried again,
-- begins again. Null for never since this column exists.
ALTER TABLE events ADD COLUMN IF NOT EXISTS tracks_changed_at timestamptz;
