-- How often an operation was put off because a part of the service did not work (storage, database, disk, media tools):
-- no attempt of the recording's.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS deferrals integer NOT NULL DEFAULT 0;

-- The relay keeps a window of deliveries of each kind of operation in the queue, however many wait for it.
CREATE INDEX IF NOT EXISTS workflow_operations_undelivered ON workflow_operations (operation, not_before, id)
  WHERE state = 'ready' AND delivered_at IS NULL;
CREATE INDEX IF NOT EXISTS workflow_operations_delivered ON workflow_operations (operation, delivered_at)
  WHERE state = 'ready' AND delivered_at IS NOT NULL;
DROP INDEX IF EXISTS workflow_operations_ready;
