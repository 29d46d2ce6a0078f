-- Drafts: input that arrives in several requests, possibly at different processes, and becomes an event or a part of one.
-- The staging ledger lists their objects, owned by the draft, until they belong to an event.
CREATE TABLE IF NOT EXISTS drafts (
  id         text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  -- The protocol of the client.
  door       text NOT NULL CHECK (door <> ''),
  -- The account of the client.
  owner      text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The draft and its files are deleted at this time.
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS drafts_expires ON drafts (expires_at);

-- The tracks of a draft.
CREATE TABLE IF NOT EXISTS draft_tracks (
  id         uuid PRIMARY KEY,
  draft_id   text NOT NULL REFERENCES drafts ON DELETE CASCADE,
  position   integer NOT NULL CHECK (position >= 0),
  flavor     text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  tags       text[] NOT NULL DEFAULT '{}',
  filename   text NOT NULL,
  mediatype  text NOT NULL,
  object_key text NOT NULL UNIQUE,
  size       bigint NOT NULL CHECK (size >= 0),
  sha256     text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  UNIQUE (draft_id, position)
);
