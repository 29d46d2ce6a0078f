-- The log of changes: append-only, written in the transaction of the change.
CREATE TABLE IF NOT EXISTS changes (
  -- In the order of writing, which may differ from the order of commits.
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The position in the log, without gaps. Assigned after the commit and before any reader sees the row, so that a reader
  -- never misses an earlier change.
  number     bigint UNIQUE,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind       text NOT NULL,
  -- The subject. Not foreign keys, because it may be deleted.
  event_id   text,
  series_id  text,
  agent_id   text,
  -- The account that made the change; empty for the service itself.
  actor      text NOT NULL DEFAULT '',
  -- The roles that may read the change of a deleted resource. Otherwise its access control list decides.
  read_roles text[],
  data       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object')
);
CREATE INDEX IF NOT EXISTS changes_unnumbered ON changes (id) WHERE number IS NULL;
CREATE INDEX IF NOT EXISTS changes_of_event ON changes (event_id, number) WHERE event_id IS NOT NULL;

-- The last assigned number. Assigning numbers locks this row.
CREATE TABLE IF NOT EXISTS changes_counter (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  last      bigint NOT NULL DEFAULT 0
);
INSERT INTO changes_counter DEFAULT VALUES ON CONFLICT DO NOTHING;

-- The positions of readers that continue after a restart.
CREATE TABLE IF NOT EXISTS changes_readers (
  name     text PRIMARY KEY,
  position bigint NOT NULL
);

-- A trigger, because reports of many agents are written in one statement and most change nothing.
CREATE OR REPLACE FUNCTION tell_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO changes (kind, agent_id) VALUES ('agent.deleted', OLD.id);
  ELSE
    INSERT INTO changes (kind, agent_id, data) VALUES ('agent.state', NEW.id, jsonb_build_object('state', NEW.state));
  END IF;
  PERFORM pg_notify('inlet_changes', '');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER capture_agents_told_first AFTER INSERT ON capture_agents FOR EACH ROW
  WHEN (NEW.seen_at IS NOT NULL) EXECUTE FUNCTION tell_of_agent();
CREATE OR REPLACE TRIGGER capture_agents_told AFTER UPDATE OF state ON capture_agents FOR EACH ROW
  WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION tell_of_agent();
CREATE OR REPLACE TRIGGER capture_agents_told_last AFTER DELETE ON capture_agents FOR EACH ROW
  EXECUTE FUNCTION tell_of_agent();
