-- Direct uploads: URLs that an account passes to people without an account, and the event made from their files.
CREATE TABLE IF NOT EXISTS direct_uploads (
  id         text PRIMARY KEY,
  -- The account that requested it; it can read and cancel it.
  account    text NOT NULL CHECK (account <> ''),
  -- The author of the event: user name, name, email, provider; and the roles. Null roles: those of the account at the time
  -- when the event is created.
  principal  jsonb NOT NULL,
  roles      text[],
  -- The request that created it.
  request_id text NOT NULL,
  -- The form fields of the event and the API version of the request.
  fields     jsonb NOT NULL,
  version    text NOT NULL,
  -- The limit for each file.
  max_bytes  bigint NOT NULL CHECK (max_bytes >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Its URLs stop working at this time, and files without an event are deleted.
  expires_at timestamptz NOT NULL,
  -- The created event, or the reason why none could be created.
  event_id   text,
  failure    text,
  CHECK (event_id IS NULL OR failure IS NULL)
);

-- The awaited files, each with its own URL.
CREATE TABLE IF NOT EXISTS direct_upload_files (
  direct_upload_id text NOT NULL REFERENCES direct_uploads ON DELETE CASCADE,
  position         integer NOT NULL CHECK (position >= 0),
  -- SHA-256 of the last part of the URL, which is a secret.
  token_sha256     text NOT NULL UNIQUE CHECK (token_sha256 ~ '^[0-9a-f]{64}$'),
  -- The form field that requested the file, if any.
  field            text,
  flavor           text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  -- The upload of the file; no such row exists before the first request.
  upload_id        text NOT NULL UNIQUE CHECK (length(upload_id) BETWEEN 16 AND 64),
  -- Stored when an event gets the file, because its upload expires.
  filename         text,
  bytes            bigint CHECK (bytes >= 0),
  PRIMARY KEY (direct_upload_id, position)
);

-- A deadline that further requests do not extend.
ALTER TABLE uploads ADD COLUMN IF NOT EXISTS expires_by timestamptz;
