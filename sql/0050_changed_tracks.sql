-- When somebody last changed the tracks of an event or how they are cut. A workflow that began before starts
-- from its first operation when it is retried. Null if never, or before this column existed.
ALTER TABLE events ADD COLUMN IF NOT EXISTS tracks_changed_at timestamptz;
