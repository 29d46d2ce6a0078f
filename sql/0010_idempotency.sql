-- Answers to requests with an Idempotency-Key, so that a repeated request does not create anything twice.
-- A row without an answer is a running request; its process renews expires_at.
CREATE TABLE IF NOT EXISTS idempotency_keys (
  -- A digest of the account and of the user it acts as. Other senders may use the same key.
  sender      text NOT NULL,
  key         text NOT NULL,
  -- The request that holds the key. Once it expires, another request may take over.
  attempt     uuid NOT NULL,
  -- A digest of the answered request.
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
