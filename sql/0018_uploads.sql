-- Resumable uploads and how much of each is durable, for all processes. The staging ledger lists their objects, owned by the
-- upload, until they belong to an event.
CREATE TABLE IF NOT EXISTS uploads (
  -- A secret: the last part of the URL.
  id           text PRIMARY KEY CHECK (length(id) BETWEEN 16 AND 64),
  -- The account of the client.
  owner        text NOT NULL,
  filename     text NOT NULL,
  -- The flavor of its track, if the client sent one.
  flavor       text CHECK (flavor ~ '^[^/]+/[^/]+$'),
  -- As it was sent; clients can read it.
  metadata     text NOT NULL DEFAULT '',
  -- Null until the client sends it.
  length       bigint CHECK (length >= 0),
  object_key   text NOT NULL UNIQUE,
  -- The storage's own handle of the unfinished object.
  handle       text NOT NULL,
  -- Bytes in stored pieces, and in a separate object until they are enough for a piece.
  stored       bigint NOT NULL DEFAULT 0 CHECK (stored >= 0),
  rest_key     text UNIQUE,
  rest_bytes   bigint NOT NULL DEFAULT 0 CHECK (rest_bytes >= 0),
  -- A fencing token: only the writer with the last number may write.
  writer       bigint NOT NULL DEFAULT 0,
  created_at   timestamptz NOT NULL DEFAULT now(),
  changed_at   timestamptz NOT NULL DEFAULT now(),
  -- The upload and its bytes are deleted at this time.
  expires_at   timestamptz NOT NULL,
  -- The time when the last byte became durable, and the properties of the file.
  completed_at timestamptz,
  mediatype    text,
  sha256       text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- The event that has the file.
  event_id     text,
  CHECK ((rest_key IS NULL) = (rest_bytes = 0)),
  CHECK (length IS NULL OR stored + rest_bytes <= length),
  CHECK ((completed_at IS NULL) = (mediatype IS NULL))
);
CREATE INDEX IF NOT EXISTS uploads_expires ON uploads (expires_at);

-- The pieces of the object.
CREATE TABLE IF NOT EXISTS upload_pieces (
  upload_id text NOT NULL REFERENCES uploads ON DELETE CASCADE,
  number    integer NOT NULL CHECK (number >= 1),
  receipt   text NOT NULL,
  PRIMARY KEY (upload_id, number)
);

-- Inspection computes the checksum of files that arrived in several requests.
ALTER TABLE tracks ALTER COLUMN sha256 DROP NOT NULL;
ALTER TABLE draft_tracks ALTER COLUMN sha256 DROP NOT NULL;
