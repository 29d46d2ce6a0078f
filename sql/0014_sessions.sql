-- People who signed in with a browser: a row for each cookie that is good, of which nothing but a digest is kept.
CREATE TABLE IF NOT EXISTS sessions (
  digest     bytea PRIMARY KEY CHECK (length(digest) = 32),
  -- The same for the cookies that follow each other after somebody signed in.
  sign_in    uuid NOT NULL,
  username   text NOT NULL,
  -- Of what changes with the password, keyed with the cookie.
  seal       bytea NOT NULL CHECK (length(seal) = 32),
  -- From then on a request with it is answered with a new one.
  renew_at   timestamptz NOT NULL,
  -- Whether a request came with it; the first one ends those before it.
  used       boolean NOT NULL DEFAULT false,
  -- Whether a later one is in use; it is good for requests under way, and no use makes it last longer.
  replaced   boolean NOT NULL DEFAULT false,
  expires_at timestamptz NOT NULL,
  -- Then one has to sign in again, whatever was done meanwhile.
  ends_at    timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_sign_in ON sessions (sign_in);
CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires_at);
