-- The account, name and progress of a file during its upload, for the dashboard.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS account text;
ALTER TABLE staging ADD COLUMN IF NOT EXISTS filename text;
-- An upper limit; null if unknown.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS expected_bytes bigint;
-- As of the last renewal.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS received_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS staging_incoming ON staging (created_at) WHERE account IS NOT NULL;
