-- The command that made a track, which replaces its earlier tracks; null for tracks from clients.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS made_by text;
