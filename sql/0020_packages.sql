-- Media packages: drafts that capture agents and recorders put together, element by element.
CREATE TABLE IF NOT EXISTS draft_attachments (
  id         uuid PRIMARY KEY,
  draft_id   text NOT NULL REFERENCES drafts ON DELETE CASCADE,
  flavor     text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  tags       text[] NOT NULL DEFAULT '{}',
  filename   text NOT NULL,
  mediatype  text NOT NULL,
  object_key text NOT NULL UNIQUE,
  size       bigint NOT NULL CHECK (size >= 0),
  sha256     text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
CREATE INDEX IF NOT EXISTS draft_attachments_draft ON draft_attachments (draft_id);

-- What an element says in XML; of each flavor the last one counts.
CREATE TABLE IF NOT EXISTS draft_catalogs (
  draft_id text NOT NULL REFERENCES drafts ON DELETE CASCADE,
  id       uuid NOT NULL UNIQUE,
  flavor   text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename text NOT NULL,
  content  text NOT NULL,
  PRIMARY KEY (draft_id, flavor)
);

-- The event that has it and the workflow that was started, for whoever asks again; what comes then is refused.
ALTER TABLE drafts
  ADD COLUMN IF NOT EXISTS event_id    text,
  ADD COLUMN IF NOT EXISTS workflow_id bigint,
  -- When something was last added.
  ADD COLUMN IF NOT EXISTS changed_at  timestamptz NOT NULL DEFAULT now();

-- What came with the recording of an event beside tracks, metadata and access control list: catalogs such as the cut...
CREATE TABLE IF NOT EXISTS event_documents (
  event_id text NOT NULL REFERENCES events ON DELETE CASCADE,
  flavor   text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename text NOT NULL,
  content  text NOT NULL,
  PRIMARY KEY (event_id, flavor)
);

-- ...and files such as pictures.
CREATE TABLE IF NOT EXISTS attachments (
  id         uuid PRIMARY KEY,
  event_id   text NOT NULL REFERENCES events ON DELETE CASCADE,
  flavor     text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename   text NOT NULL,
  mediatype  text NOT NULL,
  tags       text[] NOT NULL DEFAULT '{}',
  object_key text NOT NULL UNIQUE,
  size       bigint NOT NULL CHECK (size >= 0),
  sha256     text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$')
);
CREATE INDEX IF NOT EXISTS attachments_event ON attachments (event_id);

-- Events that stand beside a scheduled one, because its agent recorded more than once.
CREATE TABLE IF NOT EXISTS further_recordings (
  event_id text PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  -- The event that has the first recording.
  of_event text NOT NULL,
  -- 2 for the second one.
  part     integer NOT NULL CHECK (part >= 2),
  UNIQUE (of_event, part)
);

-- Since when an agent, and the recording of an event, is in its state.
ALTER TABLE capture_agents ADD COLUMN IF NOT EXISTS state_since timestamptz;
ALTER TABLE schedules ADD COLUMN IF NOT EXISTS recording_state_since timestamptz;
