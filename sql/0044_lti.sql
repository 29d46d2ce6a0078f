-- Launches by learning platforms (LTI).
ALTER TABLE sessions
  -- The user of a learning platform and the roles by course; null for sessions of accounts.
  ADD COLUMN IF NOT EXISTS launch jsonb;

-- Digests of tokens and nonces that were used, until they expire.
CREATE TABLE IF NOT EXISTS used_tokens (
  digest     bytea PRIMARY KEY CHECK (length(digest) = 32),
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS used_tokens_expires ON used_tokens (expires_at);
