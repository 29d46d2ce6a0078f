-- Sessions of browsers: a row for each valid cookie, of which only a digest is stored.
CREATE TABLE IF NOT EXISTS sessions (
  digest     bytea PRIMARY KEY CHECK (length(digest) = 32),
  -- The same for all cookies that follow one sign-in.
  sign_in    uuid NOT NULL,
  username   text NOT NULL,
  -- A digest of the password hash, keyed with the cookie: a new password invalidates the session.
  seal       bytea NOT NULL CHECK (length(seal) = 32),
  -- After this time a request with the cookie is answered with a new one.
  renew_at   timestamptz NOT NULL,
  -- True after the first request with the cookie, which marks the earlier ones as replaced.
  used       boolean NOT NULL DEFAULT false,
  -- True if a later cookie is in use. Running requests may still use this one, but do not extend it.
  replaced   boolean NOT NULL DEFAULT false,
  expires_at timestamptz NOT NULL,
  -- The user has to sign in again after this time, even if active.
  ends_at    timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_sign_in ON sessions (sign_in);
CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires_at);
