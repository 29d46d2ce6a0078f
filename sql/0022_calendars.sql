-- Calendars of capture agents.
CREATE INDEX IF NOT EXISTS schedules_of_agent_by_start ON schedules (agent_id, start_date, event_id);
CREATE INDEX IF NOT EXISTS schedules_of_agent_by_end ON schedules (agent_id, end_date, event_id);

-- The last changes of the calendar of an agent. The same set of rows means an unchanged calendar. Rows are only inserted and
-- deleted, so that transactions do not wait for each other: a counter in the row of the agent would be locked after
-- schedules, but the lock order is agents first. A foreign key would lock the agent as well.
CREATE TABLE IF NOT EXISTS calendar_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text NOT NULL
);
CREATE INDEX IF NOT EXISTS calendar_changes_of_agent ON calendar_changes (agent_id, id);

CREATE OR REPLACE FUNCTION note_calendar_changes(agents text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  agents := ARRAY(SELECT DISTINCT agent FROM unnest(agents) AS agent WHERE agent <> '');
  INSERT INTO calendar_changes (agent_id) SELECT unnest(agents);
  -- Keeps the last eight. The newest row always stays, so that a set of rows never occurs twice.
  DELETE FROM calendar_changes WHERE id IN (SELECT older.id FROM unnest(agents) AS agent, LATERAL (
    SELECT id FROM calendar_changes WHERE agent_id = agent ORDER BY id DESC OFFSET 8 FOR UPDATE SKIP LOCKED) AS older);
END $$;

CREATE OR REPLACE FUNCTION schedules_in_calendars() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_calendar_changes(ARRAY(SELECT DISTINCT agent_id FROM changed));
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER schedules_shown AFTER INSERT ON schedules
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION schedules_in_calendars();
CREATE OR REPLACE TRIGGER schedules_hidden AFTER DELETE ON schedules
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION schedules_in_calendars();

CREATE OR REPLACE FUNCTION shown_otherwise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_calendar_changes(ARRAY[OLD.agent_id, NEW.agent_id]);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER schedules_shown_otherwise AFTER UPDATE ON schedules FOR EACH ROW
  WHEN ((OLD.agent_id, OLD.start_date, OLD.end_date, OLD.inputs, OLD.workflow, OLD.configuration) IS DISTINCT FROM
    (NEW.agent_id, NEW.start_date, NEW.end_date, NEW.inputs, NEW.workflow, NEW.configuration))
  EXECUTE FUNCTION shown_otherwise();
CREATE OR REPLACE TRIGGER events_shown_otherwise AFTER UPDATE ON events FOR EACH ROW
  WHEN (NEW.agent_id <> '' AND
    (OLD.title, OLD.description, OLD.language, OLD.rights_holder, OLD.license, OLD.location, OLD.source, OLD.subjects,
      OLD.presenters, OLD.contributors, OLD.series_id, OLD.series_title, OLD.publisher) IS DISTINCT FROM
    (NEW.title, NEW.description, NEW.language, NEW.rights_holder, NEW.license, NEW.location, NEW.source, NEW.subjects,
      NEW.presenters, NEW.contributors, NEW.series_id, NEW.series_title, NEW.publisher))
  EXECUTE FUNCTION shown_otherwise();

-- The time since when a recording is in its state.
CREATE OR REPLACE FUNCTION date_recording_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.recording_state_since := now();
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER schedules_dated BEFORE UPDATE OF recording_state ON schedules FOR EACH ROW
  WHEN (OLD.recording_state <> NEW.recording_state) EXECUTE FUNCTION date_recording_state();

-- The same for an agent. If it was silent and reports the same state again, the time restarts.
CREATE OR REPLACE FUNCTION date_agent_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.state_since := now();
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER capture_agents_dated BEFORE UPDATE OF state ON capture_agents FOR EACH ROW
  WHEN (NEW.state_since IS NOT DISTINCT FROM OLD.state_since AND
    (OLD.state <> NEW.state OR OLD.state_since IS NULL OR OLD.seen_at < now() - interval '2 minutes'))
  EXECUTE FUNCTION date_agent_state();
CREATE OR REPLACE TRIGGER capture_agents_dated_first BEFORE INSERT ON capture_agents FOR EACH ROW
  WHEN (NEW.seen_at IS NOT NULL AND NEW.state_since IS NULL) EXECUTE FUNCTION date_agent_state();
