-- Other catalogues that `inlet import` copies into this one.
CREATE TABLE IF NOT EXISTS import_sources (
  id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- A URL without credentials, or `folder:` and a path.
  name        text NOT NULL UNIQUE,
  -- How often the whole source has been read, or begun to be.
  passes      integer NOT NULL DEFAULT 0,
  -- Renewed while the command runs.
  active_at   timestamptz NOT NULL DEFAULT now(),
  -- Since when the source has not answered, and why; null while it answers.
  away_since  timestamptz,
  away_reason text NOT NULL DEFAULT ''
);

-- The series and events of a source.
CREATE TABLE IF NOT EXISTS import_items (
  source_id  integer NOT NULL REFERENCES import_sources ON DELETE CASCADE,
  kind       text NOT NULL CHECK (kind IN ('series', 'event')),
  id         text NOT NULL,
  title      text NOT NULL DEFAULT '',
  state      text NOT NULL CHECK (state IN ('pending', 'copied', 'failed', 'skipped')),
  -- Why it has failed, was skipped or must wait.
  reason     text NOT NULL DEFAULT '',
  -- Sentences about parts that could not come along.
  notes      text[] NOT NULL DEFAULT '{}',
  -- The digest of the item at the source when it was last copied; null before.
  copied     text,
  -- The version here after the copy. Another one means that somebody has changed it here.
  version    text,
  -- The files of the item and their size.
  files      integer NOT NULL DEFAULT 0,
  bytes      bigint NOT NULL DEFAULT 0,
  -- The last pass that found it at the source.
  pass       integer NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (source_id, kind, id)
);
CREATE INDEX IF NOT EXISTS import_items_of_state ON import_items (source_id, state, changed_at);

-- The files of imported events, by the path of their address at the source.
CREATE TABLE IF NOT EXISTS import_files (
  source_id integer NOT NULL REFERENCES import_sources ON DELETE CASCADE,
  path      text NOT NULL,
  event_id  text NOT NULL REFERENCES events ON DELETE CASCADE,
  -- A track or an element of a publication.
  file_id   uuid NOT NULL,
  -- The size and checksum at the source; others mean another file.
  mark      text NOT NULL,
  PRIMARY KEY (source_id, path, event_id, file_id)
);
CREATE INDEX IF NOT EXISTS import_files_of_event ON import_files (event_id);
CREATE INDEX IF NOT EXISTS import_files_by_path ON import_files (path);
