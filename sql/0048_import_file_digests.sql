-- The digest of the event's files at the source when it was last copied; null before, and while some are missing here. A
-- change of the event that leaves its files as they are does not touch them here.
ALTER TABLE import_items ADD COLUMN IF NOT EXISTS copied_files text;
