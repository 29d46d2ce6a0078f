-- Series: the columns that events and filters refer to.
CREATE TABLE IF NOT EXISTS series (
  id          text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  title       text NOT NULL DEFAULT '',
  creator     text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS series_acl (
  series_id text NOT NULL REFERENCES series ON DELETE CASCADE,
  position  integer NOT NULL,
  role      text NOT NULL CHECK (role <> ''),
  action    text NOT NULL CHECK (action <> ''),
  allow     boolean NOT NULL,
  PRIMARY KEY (series_id, position),
  UNIQUE (series_id, role, action)
);
CREATE INDEX IF NOT EXISTS series_acl_role ON series_acl (role, action, series_id) WHERE allow;
