-- A workflow continues after an optional operation has failed.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS optional boolean NOT NULL DEFAULT false;
