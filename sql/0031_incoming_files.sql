-- What is known of a file while it comes in, for those who watch: whose it is, and how far.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS account text;
ALTER TABLE staging ADD COLUMN IF NOT EXISTS filename text;
-- At most so many; null when nobody has said.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS expected_bytes bigint;
-- As of the last renewal.
ALTER TABLE staging ADD COLUMN IF NOT EXISTS received_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS staging_incoming ON staging (created_at) WHERE account IS NOT NULL;
