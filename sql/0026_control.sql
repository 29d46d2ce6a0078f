-- Control of processing: pausing, retrying and stopping, and the outcome of each attempt.
ALTER TABLE workflows
  -- The reason of the failed operation.
  ADD COLUMN IF NOT EXISTS reason text;
ALTER TABLE workflow_operations
  -- True if the operation runs only after the workflow failed.
  ADD COLUMN IF NOT EXISTS on_failure boolean NOT NULL DEFAULT false,
  -- A condition on the configuration; null means always.
  ADD COLUMN IF NOT EXISTS condition text,
  -- The start of the current or last attempt.
  ADD COLUMN IF NOT EXISTS claimed_at timestamptz;
UPDATE workflow_operations SET claimed_at = started_at WHERE claimed_at IS NULL AND started_at IS NOT NULL;
UPDATE workflows SET reason = (SELECT o.reason FROM workflow_operations o
  WHERE o.workflow_id = workflows.id AND o.state = 'failed' ORDER BY o.position LIMIT 1)
WHERE state = 'FAILED' AND reason IS NULL;

-- Attempts that did not succeed. Consecutive deferrals with the same reason share a row.
CREATE TABLE IF NOT EXISTS workflow_attempts (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operation_id bigint NOT NULL REFERENCES workflow_operations ON DELETE CASCADE,
  outcome      text NOT NULL CHECK (outcome IN ('failed', 'retried', 'deferred', 'handed back', 'lost', 'stopped')),
  times        integer NOT NULL DEFAULT 1 CHECK (times >= 1),
  worker       text,
  reason       text,
  started_at   timestamptz NOT NULL,
  ended_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS workflow_attempts_of_operation ON workflow_attempts (operation_id, id);

-- Lists of workflows by creation; failed ones by the time of the failure.
CREATE INDEX IF NOT EXISTS workflows_by_created ON workflows (created_at, id);
CREATE INDEX IF NOT EXISTS workflows_of_state ON workflows (state, created_at, id);
CREATE INDEX IF NOT EXISTS workflows_of_definition ON workflows (definition, created_at, id);
CREATE INDEX IF NOT EXISTS workflows_of_request ON workflows (request_id);
CREATE INDEX IF NOT EXISTS workflows_failed ON workflows (finished_at DESC, id DESC) WHERE state = 'FAILED';
