-- The staging ledger: all objects that no committed row owns, recorded before their first byte is stored.
-- A living owner renews expires_at. Objects of expired rows are removed.
CREATE TABLE IF NOT EXISTS staging (
  object_key text PRIMARY KEY,
  -- The process that writes the object, or its draft; null if the object can be removed.
  owner      text,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS staging_expires ON staging (expires_at);
CREATE INDEX IF NOT EXISTS staging_owner ON staging (owner) WHERE owner IS NOT NULL;
