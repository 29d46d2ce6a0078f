-- Derived columns, each written by one trigger of its table; docs/architecture.md lists them with their reasons. The writer of
-- an event first writes the access control list, catalogs and schedule, and then the row with its new version: the derived
-- columns are computed then, once.
DROP TRIGGER IF EXISTS event_acl_inserted ON event_acl;
DROP TRIGGER IF EXISTS event_acl_updated ON event_acl;
DROP TRIGGER IF EXISTS event_acl_deleted ON event_acl;
DROP TRIGGER IF EXISTS event_catalogs_inserted ON event_catalogs;
DROP TRIGGER IF EXISTS event_catalogs_updated ON event_catalogs;
DROP TRIGGER IF EXISTS event_catalogs_deleted ON event_catalogs;
DROP TRIGGER IF EXISTS event_series_chosen ON events;
DROP TRIGGER IF EXISTS events_scheduled ON events;
DROP TRIGGER IF EXISTS events_unscheduled ON events;
DROP TRIGGER IF EXISTS events_shown_otherwise ON events;
DROP TRIGGER IF EXISTS series_acl_inserted ON series_acl;
DROP TRIGGER IF EXISTS series_acl_updated ON series_acl;
DROP TRIGGER IF EXISTS series_acl_deleted ON series_acl;
DROP TRIGGER IF EXISTS series_catalogs_inserted ON series_catalogs;
DROP TRIGGER IF EXISTS series_catalogs_updated ON series_catalogs;
DROP TRIGGER IF EXISTS series_catalogs_deleted ON series_catalogs;
DROP TRIGGER IF EXISTS series_appeared ON series;
DROP TRIGGER IF EXISTS series_renamed ON series;
DROP TRIGGER IF EXISTS schedules_claim ON schedules;
DROP TRIGGER IF EXISTS schedules_changed ON schedules;
DROP TRIGGER IF EXISTS schedules_shown ON schedules;
DROP TRIGGER IF EXISTS schedules_hidden ON schedules;
DROP TRIGGER IF EXISTS schedules_shown_otherwise ON schedules;
DROP TRIGGER IF EXISTS schedules_dated ON schedules;
DROP TRIGGER IF EXISTS capture_agents_dated ON capture_agents;
DROP TRIGGER IF EXISTS capture_agents_dated_first ON capture_agents;
DROP TRIGGER IF EXISTS capture_agents_told_first ON capture_agents;
DROP TRIGGER IF EXISTS capture_agents_told ON capture_agents;
DROP TRIGGER IF EXISTS capture_agents_told_last ON capture_agents;
DROP FUNCTION IF EXISTS event_acl_changed, event_catalogs_changed, event_series_chosen, series_acl_changed,
  series_catalogs_changed, series_changed, claim_time, schedule_changed, show_schedule, lock_agent_of_event,
  schedules_in_calendars, shown_otherwise, date_recording_state, date_agent_state, tell_of_agent, event_roles, followed_series;

-- Returns the text that textFilter searches. Add the column of a new searchable field here.
CREATE OR REPLACE FUNCTION event_search_text(events) RETURNS text STABLE LANGUAGE sql AS $$
  SELECT searchable($1.id, $1.title, $1.description, array_to_string($1.subjects, ' '), $1.language, $1.rights_holder,
    $1.license, array_to_string($1.presenters, ' '), array_to_string($1.contributors, ' '), $1.location, $1.source,
    $1.publisher, $1.series_id, (SELECT title FROM series WHERE id = $1.series_id), $1.creator,
    (SELECT string_agg(catalog_text(fields), ' ' ORDER BY flavor) FROM event_catalogs WHERE event_id = $1.id))
$$;
CREATE OR REPLACE FUNCTION series_search_text(series) RETURNS text STABLE LANGUAGE sql AS $$
  SELECT searchable($1.id, $1.title, $1.description, array_to_string($1.subjects, ' '), $1.language, $1.rights_holder,
    $1.license, array_to_string($1.organizers, ' '), array_to_string($1.contributors, ' '),
    array_to_string($1.publishers, ' '), $1.creator,
    (SELECT string_agg(catalog_text(fields), ' ' ORDER BY flavor) FROM series_catalogs WHERE series_id = $1.id))
$$;

CREATE OR REPLACE FUNCTION derive_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  joined series;
  entries bigint;
  schedule schedules;
BEGIN
  IF NEW.series_id IS NOT NULL THEN
    -- A series updates the events that it sees, so a concurrent change must wait until this event has joined.
    IF TG_OP = 'INSERT' OR (OLD.series_id, OLD.own_acl) IS DISTINCT FROM (NEW.series_id, NEW.own_acl) THEN
      PERFORM FROM series WHERE id = NEW.series_id FOR SHARE;
    END IF;
    SELECT * INTO joined FROM series WHERE id = NEW.series_id;
  END IF;
  NEW.series_title := coalesce(joined.title, '');
  SELECT count(*), coalesce(array_agg(role ORDER BY role) FILTER (WHERE allow AND action = 'read'), '{}'),
      coalesce(array_agg(role ORDER BY role) FILTER (WHERE allow AND action = 'write'), '{}')
    INTO entries, NEW.read_roles, NEW.write_roles FROM event_acl WHERE event_id = NEW.id;
  -- Earlier versions write entries without setting own_acl.
  IF entries = 0 AND NOT NEW.own_acl THEN
    NEW.read_roles := coalesce(joined.read_roles, '{}');
    NEW.write_roles := coalesce(joined.write_roles, '{}');
  END IF;
  NEW.end_date := NEW.start_date + make_interval(secs => coalesce(NEW.duration, 0) / 1000.0);
  NEW.search_text := event_search_text(NEW);
  SELECT * INTO schedule FROM schedules WHERE event_id = NEW.id;
  NEW.agent_id := coalesce(schedule.agent_id, '');
  NEW.technical_start := coalesce(schedule.start_date, NEW.start_date);
  NEW.technical_end := coalesce(schedule.end_date, NEW.end_date);
  NEW.recording_state := coalesce(schedule.recording_state, '');
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER events_derived BEFORE INSERT OR UPDATE OF id, title, description, subjects, language,
  rights_holder, license, presenters, contributors, location, source, publisher, series_id, start_date, duration,
  creator, own_acl, archive_version, agent_id, technical_start, technical_end, recording_state ON events
  FOR EACH ROW EXECUTE FUNCTION derive_event();

CREATE OR REPLACE FUNCTION derive_series() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.search_text := series_search_text(NEW);
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER series_derived BEFORE INSERT OR UPDATE OF id, title, description, subjects, language,
  rights_holder, license, organizers, contributors, publishers, creator ON series
  FOR EACH ROW EXECUTE FUNCTION derive_series();

CREATE OR REPLACE FUNCTION search_series_catalog() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE series SET search_text = series_search_text(series) WHERE id = coalesce(NEW.series_id, OLD.series_id);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_catalogs_searched AFTER INSERT OR UPDATE OR DELETE ON series_catalogs
  FOR EACH ROW EXECUTE FUNCTION search_series_catalog();

CREATE OR REPLACE FUNCTION derive_series_roles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE series SET read_roles = series_roles(id, 'read'), write_roles = series_roles(id, 'write')
  WHERE id IN (SELECT series_id FROM changed)
    AND (read_roles, write_roles) IS DISTINCT FROM (series_roles(id, 'read'), series_roles(id, 'write'));
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_acl_inserted AFTER INSERT ON series_acl
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION derive_series_roles();
CREATE OR REPLACE TRIGGER series_acl_deleted AFTER DELETE ON series_acl
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION derive_series_roles();

-- Updates the events of a series when it is created, changed or deleted.
CREATE OR REPLACE FUNCTION hand_on_series() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR OLD.title <> NEW.title THEN
    UPDATE events SET series_title = coalesce(NEW.title, ''), search_text = event_search_text(events)
    WHERE series_id = coalesce(NEW.id, OLD.id);
  END IF;
  IF TG_OP <> 'UPDATE' OR (OLD.read_roles, OLD.write_roles) <> (NEW.read_roles, NEW.write_roles) THEN
    UPDATE events SET read_roles = coalesce(NEW.read_roles, '{}'), write_roles = coalesce(NEW.write_roles, '{}')
    WHERE series_id = coalesce(NEW.id, OLD.id)
      AND NOT own_acl AND NOT EXISTS (SELECT FROM event_acl WHERE event_id = events.id);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_handed_on AFTER INSERT OR DELETE OR UPDATE OF title, read_roles, write_roles ON series
  FOR EACH ROW EXECUTE FUNCTION hand_on_series();

-- Returns the time that a schedule can claim. If conflicts were allowed, time claimed by other schedules is excluded.
CREATE OR REPLACE FUNCTION claimable_time(schedules) RETURNS tstzmultirange STABLE LANGUAGE sql AS $$
  SELECT CASE WHEN $1.allow_conflict THEN
    tstzmultirange($1.occupied) - coalesce((SELECT range_agg(part) FROM schedules AS other, unnest(other.claimed) AS part
      WHERE other.agent_id = $1.agent_id AND other.event_id <> $1.event_id
        AND other.claimed && tstzmultirange($1.occupied)), '{}')
    ELSE tstzmultirange($1.occupied) END
$$;

CREATE OR REPLACE FUNCTION derive_schedule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.occupied := tstzrange(NEW.start_date, NEW.end_date + make_interval(secs => NEW.gap_ms / 1000.0));
  NEW.claimed := tstzmultirange(NEW.occupied);
  IF NEW.allow_conflict THEN
    -- Prevents other transactions from releasing time of the agent until this one ends.
    PERFORM FROM capture_agents WHERE id = NEW.agent_id FOR NO KEY UPDATE;
    NEW.claimed := claimable_time(NEW);
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.recording_state <> NEW.recording_state THEN
    NEW.recording_state_since := now();
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER schedules_derived BEFORE INSERT OR UPDATE OF agent_id, start_date, end_date, gap_ms,
  allow_conflict, occupied, claimed, recording_state ON schedules
  FOR EACH ROW EXECUTE FUNCTION derive_schedule();

-- Passes released time to the schedules that overlap it.
CREATE OR REPLACE FUNCTION hand_on_time(agent text, freed tstzmultirange) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  sharing text;
BEGIN
  -- Prevents concurrent schedules of the agent.
  PERFORM FROM capture_agents WHERE id = agent FOR NO KEY UPDATE;
  FOR sharing IN SELECT event_id FROM schedules
    WHERE agent_id = agent AND claimed <> tstzmultirange(occupied) AND occupied && freed ORDER BY start_date, event_id
  LOOP
    UPDATE schedules SET claimed = claimable_time(schedules) WHERE event_id = sharing;
  END LOOP;
END $$;

-- Once for each agent in a transaction, because readers see all its changes together.
CREATE OR REPLACE FUNCTION note_calendar_changes(agents text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  agents := ARRAY(SELECT DISTINCT agent FROM unnest(agents) AS agent WHERE agent <> '' AND NOT EXISTS
    (SELECT FROM calendar_changes WHERE agent_id = agent AND calendar_changes.xmin = pg_current_xact_id()::xid));
  IF agents = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO calendar_changes (agent_id) SELECT unnest(agents);
  -- Keeps the last eight. The newest row always stays, so that a set of rows never occurs twice.
  DELETE FROM calendar_changes WHERE id IN (SELECT older.id FROM unnest(agents) AS agent, LATERAL (
    SELECT id FROM calendar_changes WHERE agent_id = agent ORDER BY id DESC OFFSET 8 FOR UPDATE SKIP LOCKED) AS older);
END $$;

CREATE OR REPLACE FUNCTION hand_on_schedule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Passing on time does not touch events, because the lock order is events before agents.
  IF TG_OP <> 'UPDATE' OR (OLD.event_id, OLD.agent_id, OLD.start_date, OLD.end_date, OLD.recording_state)
      <> (NEW.event_id, NEW.agent_id, NEW.start_date, NEW.end_date, NEW.recording_state) THEN
    UPDATE events SET agent_id = coalesce(NEW.agent_id, ''), technical_start = coalesce(NEW.start_date, start_date),
      technical_end = coalesce(NEW.end_date, end_date), recording_state = coalesce(NEW.recording_state, '')
    WHERE id IN (OLD.event_id, NEW.event_id);
  END IF;
  IF TG_OP = 'INSERT' THEN
    PERFORM note_calendar_changes(ARRAY[NEW.agent_id]);
    RETURN NULL;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed);
    PERFORM note_calendar_changes(ARRAY[OLD.agent_id]);
    RETURN NULL;
  END IF;
  IF OLD.agent_id <> NEW.agent_id THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed);
  ELSIF NOT NEW.claimed @> OLD.claimed THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed - NEW.claimed);
  END IF;
  IF (OLD.agent_id, OLD.start_date, OLD.end_date, OLD.inputs, OLD.workflow, OLD.configuration)
      <> (NEW.agent_id, NEW.start_date, NEW.end_date, NEW.inputs, NEW.workflow, NEW.configuration) THEN
    PERFORM note_calendar_changes(ARRAY[OLD.agent_id, NEW.agent_id]);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER schedules_handed_on AFTER INSERT OR UPDATE OR DELETE ON schedules
  FOR EACH ROW EXECUTE FUNCTION hand_on_schedule();

CREATE OR REPLACE FUNCTION note_event_in_calendar() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_calendar_changes(ARRAY[NEW.agent_id]);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER events_noted_in_calendar AFTER UPDATE ON events FOR EACH ROW
  WHEN (NEW.agent_id <> '' AND
    (OLD.title, OLD.description, OLD.language, OLD.rights_holder, OLD.license, OLD.location, OLD.source, OLD.subjects,
      OLD.presenters, OLD.contributors, OLD.series_id, OLD.series_title, OLD.publisher) IS DISTINCT FROM
    (NEW.title, NEW.description, NEW.language, NEW.rights_holder, NEW.license, NEW.location, NEW.source, NEW.subjects,
      NEW.presenters, NEW.contributors, NEW.series_id, NEW.series_title, NEW.publisher))
  EXECUTE FUNCTION note_event_in_calendar();

-- Derives since when an agent is in its state. If it was silent and reports the same state again, the time restarts.
CREATE OR REPLACE FUNCTION derive_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.seen_at IS NOT NULL AND NEW.state_since IS NULL THEN
      NEW.state_since := now();
    END IF;
  ELSIF NEW.state_since IS NOT DISTINCT FROM OLD.state_since AND
      (OLD.state <> NEW.state OR OLD.state_since IS NULL OR OLD.seen_at < now() - interval '2 minutes') THEN
    NEW.state_since := now();
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER capture_agents_derived BEFORE INSERT OR UPDATE OF state ON capture_agents
  FOR EACH ROW EXECUTE FUNCTION derive_agent();

-- A trigger, because reports of many agents are written in one statement and most change nothing.
CREATE OR REPLACE FUNCTION record_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO changes (kind, agent_id) VALUES ('agent.deleted', OLD.id);
  ELSIF TG_OP = 'UPDATE' AND NEW.forgotten AND NOT OLD.forgotten THEN
    INSERT INTO changes (kind, agent_id) VALUES ('agent.deleted', NEW.id);
  ELSIF TG_OP = 'INSERT' AND NEW.seen_at IS NOT NULL OR TG_OP = 'UPDATE' AND NOT NEW.forgotten AND OLD.state <> NEW.state THEN
    INSERT INTO changes (kind, agent_id, data) VALUES ('agent.state', NEW.id, jsonb_build_object('state', NEW.state));
  ELSE
    RETURN NULL;
  END IF;
  PERFORM pg_notify('inlet_changes', '');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER capture_agents_recorded AFTER INSERT OR DELETE OR UPDATE OF state, forgotten ON capture_agents
  FOR EACH ROW EXECUTE FUNCTION record_agent();
