-- Drafts: what comes in over several requests, each of them perhaps answered by another process, before it becomes an
-- event or a part of one. Their objects stand on the staging ledger, owned by the draft, until an event has them.
CREATE TABLE IF NOT EXISTS drafts (
  id         text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  -- The door it comes in at.
  door       text NOT NULL CHECK (door <> ''),
  -- The account it belongs to.
  owner      text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Then it is gone, with its files.
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS drafts_expires ON drafts (expires_at);

-- The tracks that an event is to have of a draft.
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
