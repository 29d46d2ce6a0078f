-- Direct uploads: addresses that an account hands to people who have none, and the event that is made of what they send.
CREATE TABLE IF NOT EXISTS direct_uploads (
  id         text PRIMARY KEY,
  -- The account that asked for it, which is told of it and may take it back.
  account    text NOT NULL CHECK (account <> ''),
  -- As whom the event is made: user name, name, email, provider; and with which roles. Null stands for those that the
  -- account of that name has when the event is made.
  principal  jsonb NOT NULL,
  roles      text[],
  -- The request that asked for it.
  request_id text NOT NULL,
  -- Form fields of the event as they were sent, and the version of the API that they were sent in.
  fields     jsonb NOT NULL,
  version    text NOT NULL,
  -- Of each file.
  max_bytes  bigint NOT NULL CHECK (max_bytes >= 1),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Then its addresses lead nowhere, and what has come to them is gone unless an event has it.
  expires_at timestamptz NOT NULL,
  -- The event that was made of it, or why none could be.
  event_id   text,
  failure    text,
  CHECK (event_id IS NULL OR failure IS NULL)
);

-- The files that are to come, each to an address of its own.
CREATE TABLE IF NOT EXISTS direct_upload_files (
  direct_upload_id text NOT NULL REFERENCES direct_uploads ON DELETE CASCADE,
  position         integer NOT NULL CHECK (position >= 0),
  -- SHA-256 of the last part of the address, which nobody else is to know.
  token_sha256     text NOT NULL UNIQUE CHECK (token_sha256 ~ '^[0-9a-f]{64}$'),
  -- The form field it would have come in, if it was asked for by one.
  field            text,
  flavor           text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  -- The upload that it comes by; there is none before something comes.
  upload_id        text NOT NULL UNIQUE CHECK (length(upload_id) BETWEEN 16 AND 64),
  -- What is known of it for good once an event has it.
  filename         text,
  bytes            bigint CHECK (bytes >= 0),
  PRIMARY KEY (direct_upload_id, position)
);

-- An upload that has to come in time goes when that is over, whether or not more of it comes.
ALTER TABLE uploads ADD COLUMN IF NOT EXISTS expires_by timestamptz;
