-- Accounts of machines, which may also sign in with HTTP Digest. That requires secrets as valuable as the password (RFC 7616,
-- section 3.4.2). They have a separate table, so that nothing that reads accounts reads them.
CREATE TABLE IF NOT EXISTS agent_accounts (
  username text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  -- The only capture agent that the account may act for; null for any.
  agent_id text,
  -- Digests of `username:realm:password`.
  md5      text NOT NULL CHECK (md5 ~ '^[0-9a-f]{32}$'),
  sha256   text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$')
);

-- The key that signs nonces of HTTP Digest: the same for all processes, also after a restart. It is random and not derived
-- from a configured password, because a client with a nonce could test passwords offline.
CREATE TABLE IF NOT EXISTS nonce_key (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  key       bytea NOT NULL CHECK (length(key) = 32)
);
INSERT INTO nonce_key (key)
SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
ON CONFLICT DO NOTHING;
