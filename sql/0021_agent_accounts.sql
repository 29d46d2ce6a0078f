-- Accounts of machines: beside HTTP Basic they sign in with HTTP Digest, for which a server has to keep what is as good as
-- the password (RFC 7616, section 3.4.2). Apart from the accounts, so that nothing else that reads these reads it.
CREATE TABLE IF NOT EXISTS agent_accounts (
  username text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  -- The one capture agent that the account is for; null for any.
  agent_id text,
  -- Of user name, realm and password, with colons between them.
  md5      text NOT NULL CHECK (md5 ~ '^[0-9a-f]{32}$'),
  sha256   text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$')
);

-- What the nonces of HTTP Digest are signed with: the same for every process, also after a restart. By chance and not from
-- a password of the configuration, since whoever has a nonce could try passwords on it.
CREATE TABLE IF NOT EXISTS nonce_key (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  key       bytea NOT NULL CHECK (length(key) = 32)
);
INSERT INTO nonce_key (key)
SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
ON CONFLICT DO NOTHING;
