-- The digest of the event's files at the source when it was last copied; null before, and while some are missing here. A
-- change of the event that leaves its files as they are does not touch them here.
ALTER TABLE import_items ADD COLUMN IF NOT EXISTS copied_files text;
-- Playlists and groups come along, too.
ALTER TABLE import_items
  DROP CONSTRAINT IF EXISTS import_items_kind_check,
  ADD CONSTRAINT import_items_kind_check CHECK (kind IN ('series', 'event', 'playlist', 'group'));
