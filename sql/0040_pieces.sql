-- Pieces: an operation may be divided into parts that workers run like operations.
ALTER TABLE workflow_operations
  -- The operation that a piece belongs to; null for an operation of the workflow.
  ADD COLUMN IF NOT EXISTS parent_id bigint REFERENCES workflow_operations ON DELETE CASCADE,
  -- What a piece does.
  ADD COLUMN IF NOT EXISTS piece     jsonb,
  DROP CONSTRAINT IF EXISTS workflow_operations_state_check,
  -- divided: workers run its pieces; when none is left, it is ready again.
  ADD CONSTRAINT workflow_operations_state_check CHECK (state IN
    ('waiting', 'ready', 'running', 'divided', 'paused', 'succeeded', 'failed', 'skipped', 'stopped')),
  DROP CONSTRAINT IF EXISTS workflow_operations_workflow_id_position_key;
CREATE UNIQUE INDEX IF NOT EXISTS workflow_operations_place
  ON workflow_operations (workflow_id, coalesce(parent_id, 0), position);
CREATE INDEX IF NOT EXISTS workflow_operations_pieces ON workflow_operations (parent_id, position)
  WHERE parent_id IS NOT NULL;
DROP INDEX IF EXISTS workflow_operations_one_current;
CREATE UNIQUE INDEX IF NOT EXISTS workflow_operations_current ON workflow_operations (workflow_id)
  WHERE state IN ('ready', 'running', 'divided', 'paused') AND parent_id IS NULL;

-- Finds what is ready or running, pieces too, however many operations are finished.
CREATE INDEX IF NOT EXISTS workflow_operations_at_work ON workflow_operations (workflow_id)
  WHERE state IN ('ready', 'running', 'divided', 'paused');

ALTER TABLE publication_elements
  DROP CONSTRAINT IF EXISTS publication_elements_kind_check,
  -- piece: a result of a piece, until the operation joins all of them.
  ADD CONSTRAINT publication_elements_kind_check CHECK (kind IN ('media', 'attachment', 'metadata', 'piece'));
