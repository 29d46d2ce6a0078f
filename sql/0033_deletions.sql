-- What happened before the last deletion of an identifier is not about what has it now. Few changes are deletions: making
-- these reads the log, and holds up what writes to it for that long.
CREATE INDEX IF NOT EXISTS changes_deleted_event ON changes (event_id, id) WHERE kind = 'event.deleted';
CREATE INDEX IF NOT EXISTS changes_deleted_series ON changes (series_id, id) WHERE kind = 'series.deleted';
