-- How often an operation was put off because a part of the service did not work (storage, database, disk, media tools):
-- no attempt of the recording's.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS deferrals integer NOT NULL DEFAULT 0;
