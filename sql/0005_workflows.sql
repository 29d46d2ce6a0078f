-- A workflow and its operations in order. A worker claims an operation with a conditional update and sends the fencing
-- token of its claim with every later write.
CREATE TABLE IF NOT EXISTS workflows (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id      text NOT NULL REFERENCES events ON DELETE CASCADE,
  definition    text NOT NULL,
  title         text NOT NULL,
  configuration jsonb NOT NULL CHECK (jsonb_typeof(configuration) = 'object'),
  state         text NOT NULL CHECK (state IN
    ('INSTANTIATED', 'RUNNING', 'PAUSED', 'STOPPED', 'FAILING', 'FAILED', 'SUCCEEDED')),
  creator       text NOT NULL,
  -- The request that started the workflow, for the log lines of workers.
  request_id    text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  finished_at   timestamptz
);
CREATE INDEX IF NOT EXISTS workflows_event ON workflows (event_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS workflows_one_active ON workflows (event_id)
  WHERE state IN ('INSTANTIATED', 'RUNNING', 'PAUSED', 'FAILING');

CREATE TABLE IF NOT EXISTS workflow_operations (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workflow_id   bigint NOT NULL REFERENCES workflows ON DELETE CASCADE,
  position      integer NOT NULL CHECK (position >= 0),
  operation     text NOT NULL,
  description   text NOT NULL DEFAULT '',
  configuration jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(configuration) = 'object'),
  -- waiting: an earlier operation is not finished; ready: can be delivered to a worker.
  state         text NOT NULL CHECK (state IN
    ('waiting', 'ready', 'running', 'paused', 'succeeded', 'failed', 'skipped', 'stopped')),
  max_attempts  integer NOT NULL CHECK (max_attempts >= 1),
  time_limit_ms bigint NOT NULL CHECK (time_limit_ms > 0),
  -- Failed attempts that may be retried. Attempts lost with their worker count as losses.
  attempts      integer NOT NULL DEFAULT 0,
  losses        integer NOT NULL DEFAULT 0,
  not_before    timestamptz NOT NULL DEFAULT '-infinity',
  -- Set when the relay passes the job to the queue. It expires, so that a lost job is delivered again.
  delivered_at  timestamptz,
  deliveries    integer NOT NULL DEFAULT 0,
  fencing_token bigint NOT NULL DEFAULT 0,
  worker        text,
  heartbeat_at  timestamptz,
  progress      real NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 1),
  -- The reason of the failure in a sentence, and the last lines of the tool's log.
  reason        text,
  log           text,
  started_at    timestamptz,
  finished_at   timestamptz,
  UNIQUE (workflow_id, position),
  CHECK ((state = 'running') = (heartbeat_at IS NOT NULL)),
  CHECK (state <> 'failed' OR reason IS NOT NULL)
);
CREATE INDEX IF NOT EXISTS workflow_operations_ready ON workflow_operations (not_before, id) WHERE state = 'ready';
CREATE INDEX IF NOT EXISTS workflow_operations_running ON workflow_operations (heartbeat_at) WHERE state = 'running';
CREATE UNIQUE INDEX IF NOT EXISTS workflow_operations_one_current ON workflow_operations (workflow_id)
  WHERE state IN ('ready', 'running', 'paused');
