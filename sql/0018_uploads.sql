-- Uploads that come in several requests: how much of each is durable, whoever received it. Their objects stand on the
-- staging ledger, owned by the upload, until an event has them.
CREATE TABLE IF NOT EXISTS uploads (
  -- Not to be guessed; the last part of its address.
  id           text PRIMARY KEY CHECK (length(id) BETWEEN 16 AND 64),
  -- The account it belongs to.
  owner        text NOT NULL,
  filename     text NOT NULL,
  -- What its track is to be, where whoever uploads has said so.
  flavor       text CHECK (flavor ~ '^[^/]+/[^/]+$'),
  -- As it was sent, to be given back.
  metadata     text NOT NULL DEFAULT '',
  -- Null until whoever uploads knows.
  length       bigint CHECK (length >= 0),
  object_key   text NOT NULL UNIQUE,
  -- What the storage wants to have again.
  handle       text NOT NULL,
  -- Bytes in pieces that the storage keeps, and in an object of their own that waits to become a part of one.
  stored       bigint NOT NULL DEFAULT 0 CHECK (stored >= 0),
  rest_key     text UNIQUE,
  rest_bytes   bigint NOT NULL DEFAULT 0 CHECK (rest_bytes >= 0),
  -- Counts who has written it; a writer whose number is not the last one writes nothing.
  writer       bigint NOT NULL DEFAULT 0,
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),
  -- Then it is gone, with its bytes.
  expires_at   timestamptz NOT NULL,
  -- When the last byte was durable, and what was found of them then.
  completed_at timestamptz,
  mediatype    text,
  sha256       text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- The event that has it.
  event_id     text,
  CHECK ((rest_key IS NULL) = (rest_bytes = 0)),
  CHECK (length IS NULL OR stored + rest_bytes <= length),
  CHECK ((completed_at IS NULL) = (mediatype IS NULL))
);
CREATE INDEX IF NOT EXISTS uploads_expires ON uploads (expires_at);

-- The pieces of which its object will be made.
CREATE TABLE IF NOT EXISTS upload_pieces (
  upload_id text NOT NULL REFERENCES uploads ON DELETE CASCADE,
  number    integer NOT NULL CHECK (number >= 1),
  receipt   text NOT NULL,
  PRIMARY KEY (upload_id, number)
);

-- Of what came in several requests it is found out by inspection.
ALTER TABLE tracks ALTER COLUMN sha256 DROP NOT NULL;
ALTER TABLE draft_tracks ALTER COLUMN sha256 DROP NOT NULL;
