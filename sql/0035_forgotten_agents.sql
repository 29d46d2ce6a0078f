-- Schedules refer to their agent forever, so it cannot be deleted. A forgotten agent is hidden until it reports or gets a
-- new schedule.
ALTER TABLE capture_agents ADD COLUMN IF NOT EXISTS forgotten boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION tell_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO changes (kind, agent_id) VALUES ('agent.deleted', OLD.id);
  ELSIF NEW.forgotten THEN
    INSERT INTO changes (kind, agent_id) VALUES ('agent.deleted', NEW.id);
  ELSE
    INSERT INTO changes (kind, agent_id, data) VALUES ('agent.state', NEW.id, jsonb_build_object('state', NEW.state));
  END IF;
  PERFORM pg_notify('inlet_changes', '');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER capture_agents_told AFTER UPDATE OF state, forgotten ON capture_agents FOR EACH ROW
  WHEN (NEW.forgotten AND NOT OLD.forgotten OR NOT NEW.forgotten AND OLD.state <> NEW.state)
  EXECUTE FUNCTION tell_of_agent();
