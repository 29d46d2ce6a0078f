-- How often an operation was put off because a part of the service did not work (storage, database, disk, media tools):
-- no attempt of the recording's.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS deferrals integer NOT NULL DEFAULT 0;

-- In which lane of the queue an operation waits, once it is ready. The relay keeps a window of deliveries of each lane in
-- the queue, however many wait for it.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS lane text;
CREATE INDEX IF NOT EXISTS workflow_operations_unassigned ON workflow_operations (id)
  WHERE state = 'ready' AND lane IS NULL;
CREATE INDEX IF NOT EXISTS workflow_operations_undelivered ON workflow_operations (lane, not_before, id)
  WHERE state = 'ready' AND delivered_at IS NULL;
CREATE INDEX IF NOT EXISTS workflow_operations_delivered ON workflow_operations (lane, delivered_at)
  WHERE state = 'ready' AND delivered_at IS NOT NULL;
DROP INDEX IF EXISTS workflow_operations_ready;
