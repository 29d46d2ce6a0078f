-- Events. A row holds the default metadata catalog (dublincore/episode) and the technical state.
CREATE TABLE IF NOT EXISTS events (
  id               text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  title            text NOT NULL DEFAULT '',
  description      text NOT NULL DEFAULT '',
  subjects         text[] NOT NULL DEFAULT '{}',
  language         text NOT NULL DEFAULT '',
  rights_holder    text NOT NULL DEFAULT '',
  license          text NOT NULL DEFAULT '',
  presenters       text[] NOT NULL DEFAULT '{}',
  contributors     text[] NOT NULL DEFAULT '{}',
  location         text NOT NULL DEFAULT '',
  source           text NOT NULL DEFAULT '',
  publisher        text NOT NULL DEFAULT '',
  -- Not a foreign key: events keep the identifier of a deleted series.
  series_id        text CHECK (series_id <> ''),
  start_date       timestamptz NOT NULL,
  created          timestamptz NOT NULL,
  -- Milliseconds: first from the catalog, then from inspection of the media.
  duration         bigint CHECK (duration >= 0),
  creator          text NOT NULL,
  archive_version  integer NOT NULL DEFAULT 0 CHECK (archive_version >= 0),
  -- Written by advance() alone; empty until a workflow exists.
  processing_state text NOT NULL DEFAULT '' CHECK (processing_state IN
    ('', 'INSTANTIATED', 'RUNNING', 'PAUSED', 'STOPPED', 'FAILING', 'FAILED', 'SUCCEEDED')),
  inserted_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS events_start_date ON events (start_date DESC, id);
CREATE INDEX IF NOT EXISTS events_series ON events (series_id) WHERE series_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS event_acl (
  event_id text NOT NULL REFERENCES events ON DELETE CASCADE,
  position integer NOT NULL,
  role     text NOT NULL CHECK (role <> ''),
  action   text NOT NULL CHECK (action <> ''),
  allow    boolean NOT NULL,
  PRIMARY KEY (event_id, position),
  UNIQUE (event_id, role, action)
);
CREATE INDEX IF NOT EXISTS event_acl_role ON event_acl (role, action, event_id) WHERE allow;

-- Extended catalogs: values by field.
CREATE TABLE IF NOT EXISTS event_catalogs (
  event_id text NOT NULL REFERENCES events ON DELETE CASCADE,
  flavor   text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  fields   jsonb NOT NULL CHECK (jsonb_typeof(fields) = 'object'),
  PRIMARY KEY (event_id, flavor)
);
