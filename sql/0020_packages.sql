-- Media packages: drafts that capture agents and recorders build element by element.
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

-- Elements with XML. The last one of each flavor counts.
CREATE TABLE IF NOT EXISTS draft_catalogs (
  draft_id text NOT NULL REFERENCES drafts ON DELETE CASCADE,
  id       uuid NOT NULL UNIQUE,
  flavor   text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename text NOT NULL,
  content  text NOT NULL,
  PRIMARY KEY (draft_id, flavor)
);

-- The event and the workflow made from the draft, for repeated requests. Further elements are refused.
ALTER TABLE drafts
  ADD COLUMN IF NOT EXISTS event_id    text,
  ADD COLUMN IF NOT EXISTS workflow_id bigint,
  -- The time of the last addition.
  ADD COLUMN IF NOT EXISTS changed_at  timestamptz NOT NULL DEFAULT now();

-- Other parts of the recording of an event: XML documents, such as cut lists ...
CREATE TABLE IF NOT EXISTS event_documents (
  event_id text NOT NULL REFERENCES events ON DELETE CASCADE,
  flavor   text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename text NOT NULL,
  content  text NOT NULL,
  PRIMARY KEY (event_id, flavor)
);

-- ... and files, such as pictures.
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

-- Events for further recordings of a scheduled event.
CREATE TABLE IF NOT EXISTS further_recordings (
  event_id text PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  -- The event with the first recording.
  of_event text NOT NULL,
  -- 2 for the second one.
  part     integer NOT NULL CHECK (part >= 2),
  UNIQUE (of_event, part)
);

-- The time since when an agent or a recording is in its state.
ALTER TABLE capture_agents ADD COLUMN IF NOT EXISTS state_since timestamptz;
ALTER TABLE schedules ADD COLUMN IF NOT EXISTS recording_state_since timestamptz;
