-- Answers to requests with an Idempotency-Key, so that the same request again creates nothing again.
-- A row without an answer is a request under way; its process moves expires_at on while it lives.
CREATE TABLE IF NOT EXISTS idempotency_keys (
  -- A digest of who sent the key: the account, and whom it acted as. Others cannot meet the row.
  sender      text NOT NULL,
  key         text NOT NULL,
  -- The request that holds the key; a later one takes it over once this one has been silent for too long.
  attempt     uuid NOT NULL,
  -- A digest of the request that was answered.
  fingerprint text,
  status      smallint,
  headers     jsonb,
  body        text,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (sender, key),
  CHECK (num_nulls(fingerprint, status, headers, body) IN (0, 4))
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expires ON idempotency_keys (expires_at);
CREATE INDEX IF NOT EXISTS idempotency_keys_under_way ON idempotency_keys (attempt) WHERE status IS NULL;
