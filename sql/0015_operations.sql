-- The number of times that an operation was deferred because a part of the service did not work (storage, database, disk,
-- media tools). Deferrals do not count as attempts.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS deferrals integer NOT NULL DEFAULT 0;

-- The lane of the queue for a ready operation. The relay keeps a limited number of deliveries of each lane in the queue.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS lane text;
CREATE INDEX IF NOT EXISTS workflow_operations_unassigned ON workflow_operations (id)
  WHERE state = 'ready' AND lane IS NULL;
CREATE INDEX IF NOT EXISTS workflow_operations_undelivered ON workflow_operations (lane, not_before, id)
  WHERE state = 'ready' AND delivered_at IS NULL;
CREATE INDEX IF NOT EXISTS workflow_operations_delivered ON workflow_operations (lane, delivered_at)
  WHERE state = 'ready' AND delivered_at IS NOT NULL;
DROP INDEX IF EXISTS workflow_operations_ready;
