-- Tracks are files from clients. Publication elements are files made by operations: prepared while publication_id is null,
-- public afterwards. Each stored object belongs to exactly one row.
CREATE TABLE IF NOT EXISTS tracks (
  id         uuid PRIMARY KEY,
  event_id   text NOT NULL REFERENCES events ON DELETE CASCADE,
  position   integer NOT NULL CHECK (position >= 0),
  flavor     text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename   text NOT NULL,
  mediatype  text NOT NULL,
  object_key text NOT NULL UNIQUE,
  size       bigint NOT NULL CHECK (size >= 0),
  sha256     text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- Results of inspection; null until then.
  duration   bigint CHECK (duration >= 0),
  has_audio  boolean,
  has_video  boolean,
  streams    jsonb CHECK (jsonb_typeof(streams) = 'array'),
  UNIQUE (event_id, position)
);

CREATE TABLE IF NOT EXISTS publications (
  id           uuid PRIMARY KEY,
  event_id     text NOT NULL REFERENCES events ON DELETE CASCADE,
  channel      text NOT NULL CHECK (channel <> ''),
  mediatype    text NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, channel)
);

CREATE TABLE IF NOT EXISTS publication_elements (
  id             uuid PRIMARY KEY,
  event_id       text NOT NULL REFERENCES events ON DELETE CASCADE,
  publication_id uuid REFERENCES publications ON DELETE CASCADE,
  position       integer NOT NULL CHECK (position >= 0),
  kind           text NOT NULL CHECK (kind IN ('media', 'attachment', 'metadata')),
  flavor         text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  filename       text NOT NULL CHECK (filename ~ '^[A-Za-z0-9._-]+$'),
  mediatype      text NOT NULL,
  tags           text[] NOT NULL DEFAULT '{}',
  object_key     text NOT NULL UNIQUE,
  size           bigint NOT NULL CHECK (size >= 0),
  sha256         text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- Media only.
  duration       bigint CHECK (duration >= 0),
  has_audio      boolean,
  has_video      boolean,
  width          integer,
  height         integer,
  frame_rate     double precision,
  frame_count    bigint,
  bit_rate       bigint,
  -- Data that a player needs to use an attachment, such as the layout of a sprite sheet.
  properties     jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(properties) = 'object'),
  CHECK ((kind = 'media') = (has_audio IS NOT NULL AND has_video IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS publication_elements_event ON publication_elements (event_id);
CREATE INDEX IF NOT EXISTS publication_elements_publication ON publication_elements (publication_id) WHERE publication_id IS NOT NULL;
