-- What happened: an append-only log, written in the transaction that makes it happen.
CREATE TABLE IF NOT EXISTS changes (
  -- In the order of writing; what is committed late comes late.
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Its place in the log, without gaps; given once it is committed, before anybody reads it. So whoever has read up to a
  -- number has missed nothing before it.
  number     bigint UNIQUE,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind       text NOT NULL,
  -- What it is about. Nothing is referred to: it may be gone.
  event_id   text,
  series_id  text,
  agent_id   text,
  -- The account that did it; empty for the service itself.
  actor      text NOT NULL DEFAULT '',
  -- Who may hear of what is gone; of what is there, its access control list says it.
  read_roles text[],
  data       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object')
);
CREATE INDEX IF NOT EXISTS changes_unnumbered ON changes (id) WHERE number IS NULL;
CREATE INDEX IF NOT EXISTS changes_of_event ON changes (event_id, number) WHERE event_id IS NOT NULL;

-- The last number given. Whoever gives numbers holds this row.
CREATE TABLE IF NOT EXISTS changes_counter (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  last      bigint NOT NULL DEFAULT 0
);
INSERT INTO changes_counter DEFAULT VALUES ON CONFLICT DO NOTHING;

-- How far each reader that goes on where it was has come.
CREATE TABLE IF NOT EXISTS changes_readers (
  name     text PRIMARY KEY,
  position bigint NOT NULL
);

-- Capture agents report in one statement, many of them at a time and most of them nothing new.
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
