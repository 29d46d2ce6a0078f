-- Changes before the last deletion of an identifier do not belong to its present owner. The indexes are small, because few
-- changes are deletions, but creating them reads the whole log and blocks writes to it.
CREATE INDEX IF NOT EXISTS changes_deleted_event ON changes (event_id, id) WHERE kind = 'event.deleted';
CREATE INDEX IF NOT EXISTS changes_deleted_series ON changes (series_id, id) WHERE kind = 'series.deleted';
