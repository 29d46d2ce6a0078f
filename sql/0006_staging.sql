-- The staging ledger: every object that no committed row owns, written down before its first byte.
-- The owner of the object moves expires_at on while it lives; what expires is swept.
CREATE TABLE IF NOT EXISTS staging (
  object_key text PRIMARY KEY,
  -- The process that writes it, or the draft it is part of; null once nobody wants it (it is only to be removed).
  owner      text,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS staging_expires ON staging (expires_at);
CREATE INDEX IF NOT EXISTS staging_owner ON staging (owner) WHERE owner IS NOT NULL;
