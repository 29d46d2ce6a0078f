-- Capture agents and their schedules. A constraint prevents overlapping recordings of an agent.
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE IF NOT EXISTS capture_agents (
  id            text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  -- The last reported state.
  state         text NOT NULL DEFAULT 'unknown' CHECK (state IN
    ('idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline')),
  url           text NOT NULL DEFAULT '',
  inputs        text[] NOT NULL DEFAULT '{}',
  -- An IANA name: recurring recordings keep their local time in this zone.
  time_zone     text NOT NULL DEFAULT 'UTC',
  configuration jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(configuration) = 'object'),
  -- The time of the last report; null if the agent is known only from schedules.
  seen_at       timestamptz,
  known_since   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS schedules (
  -- Deferred, because the schedule is written before its event, which derives columns from it.
  event_id        text PRIMARY KEY REFERENCES events ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  agent_id        text NOT NULL REFERENCES capture_agents,
  start_date      timestamptz NOT NULL,
  end_date        timestamptz NOT NULL CHECK (end_date > start_date),
  -- The minimum gap to the next recording.
  gap_ms          bigint NOT NULL DEFAULT 0 CHECK (gap_ms >= 0),
  -- True if an administrator allowed it to overlap earlier schedules.
  allow_conflict  boolean NOT NULL DEFAULT false,
  -- From the start to the end plus the gap. Derived by a trigger.
  occupied        tstzrange NOT NULL DEFAULT 'empty',
  -- The time that no other schedule may claim: the occupied time or, if conflicts were allowed, the part that no earlier
  -- schedule claimed. A schedule that conflicts with one of two overlapping ones is refused. Derived by triggers.
  claimed         tstzmultirange NOT NULL DEFAULT '{}',
  inputs          text[] NOT NULL DEFAULT '{}',
  -- Started when the recording arrives.
  workflow        text NOT NULL,
  configuration   jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(configuration) = 'object'),
  -- The progress of the recording; empty until the agent reports it.
  recording_state text NOT NULL DEFAULT '' CHECK (recording_state IN
    ('', 'capturing', 'capture_finished', 'capture_error', 'manifest', 'manifest_error', 'manifest_finished',
     'compressing', 'compressing_error', 'uploading', 'upload_finished', 'upload_error')),
  changed_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT schedules_do_not_conflict EXCLUDE USING gist (agent_id WITH =, claimed WITH &&)
);
-- Recordings that may never arrive.
CREATE INDEX IF NOT EXISTS schedules_awaited ON schedules (end_date) WHERE recording_state = '';
CREATE INDEX IF NOT EXISTS schedules_sharing ON schedules USING gist (agent_id, occupied)
  WHERE claimed <> tstzmultirange(occupied);

CREATE OR REPLACE FUNCTION claim_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.occupied := tstzrange(NEW.start_date, NEW.end_date + make_interval(secs => NEW.gap_ms / 1000.0));
  NEW.claimed := tstzmultirange(NEW.occupied);
  IF NEW.allow_conflict THEN
    -- Prevents other transactions from releasing time of the agent until this one ends.
    PERFORM FROM capture_agents WHERE id = NEW.agent_id FOR NO KEY UPDATE;
    NEW.claimed := NEW.claimed - coalesce((SELECT range_agg(part) FROM schedules AS other, unnest(other.claimed) AS part
      WHERE other.agent_id = NEW.agent_id AND other.event_id <> NEW.event_id AND other.claimed && NEW.claimed), '{}');
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER schedules_claim BEFORE INSERT OR UPDATE OF agent_id, start_date, end_date, gap_ms,
  allow_conflict, occupied, claimed ON schedules
  FOR EACH ROW EXECUTE FUNCTION claim_time();

-- Passes released time to the schedules that overlap it. Setting `claimed` to itself derives it again.
CREATE OR REPLACE FUNCTION hand_on_time(agent text, freed tstzmultirange) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  sharing text;
BEGIN
  -- Prevents concurrent schedules of the agent.
  PERFORM FROM capture_agents WHERE id = agent FOR NO KEY UPDATE;
  FOR sharing IN SELECT event_id FROM schedules
    WHERE agent_id = agent AND claimed <> tstzmultirange(occupied) AND occupied && freed ORDER BY start_date, event_id
  LOOP
    UPDATE schedules SET claimed = claimed WHERE event_id = sharing;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION schedule_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A new event derives these columns in its own trigger. Passing on time does not touch events, because the lock order is
  -- events before agents.
  IF TG_OP <> 'UPDATE' OR (OLD.event_id, OLD.agent_id, OLD.start_date, OLD.end_date, OLD.recording_state)
      <> (NEW.event_id, NEW.agent_id, NEW.start_date, NEW.end_date, NEW.recording_state) THEN
    UPDATE events SET agent_id = agent_id WHERE id IN (OLD.event_id, NEW.event_id);
  END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed);
  ELSIF TG_OP = 'UPDATE' AND OLD.agent_id <> NEW.agent_id THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed);
  ELSIF TG_OP = 'UPDATE' AND NOT NEW.claimed @> OLD.claimed THEN
    PERFORM hand_on_time(OLD.agent_id, OLD.claimed - NEW.claimed);
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER schedules_changed AFTER INSERT OR UPDATE OR DELETE ON schedules
  FOR EACH ROW EXECUTE FUNCTION schedule_changed();

-- True for audio and video: workflows process these tracks, and they count as the recording of an event. For a file of
-- unknown type the flavor decides.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS is_media boolean NOT NULL GENERATED ALWAYS AS (
  flavor NOT LIKE 'captions/%' AND (mediatype LIKE 'audio/%' OR mediatype LIKE 'video/%' OR mediatype = 'application/mxf'
    OR mediatype = 'application/octet-stream'
      AND flavor IN ('presenter/source', 'presentation/source', 'presenter-audio/source'))) STORED;

-- Columns for showing, filtering and sorting lists. Only a trigger writes them.
ALTER TABLE events
  -- Empty if the event was never scheduled.
  ADD COLUMN IF NOT EXISTS agent_id        text NOT NULL DEFAULT '',
  -- The times of the recording; the bibliographic times if the event was never scheduled.
  ADD COLUMN IF NOT EXISTS technical_start timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN IF NOT EXISTS technical_end   timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN IF NOT EXISTS recording_state text NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN IF NOT EXISTS status text NOT NULL GENERATED ALWAYS AS (
  CASE
    WHEN processing_state = 'INSTANTIATED' THEN 'PENDING'
    WHEN processing_state IN ('RUNNING', 'FAILING') THEN 'PROCESSING'
    WHEN processing_state = 'PAUSED' THEN 'PAUSED'
    WHEN processing_state = 'FAILED' THEN 'PROCESSING_FAILURE'
    WHEN processing_state = 'STOPPED' THEN 'PROCESSING_CANCELLED'
    WHEN processing_state = 'SUCCEEDED' OR agent_id = '' THEN 'PROCESSED'
    WHEN recording_state = '' THEN 'SCHEDULED'
    WHEN recording_state IN ('capturing', 'capture_finished') THEN 'RECORDING'
    WHEN recording_state LIKE '%\_error' THEN 'RECORDING_FAILURE'
    ELSE 'INGESTING'
  END) STORED;

CREATE OR REPLACE FUNCTION show_schedule() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  schedule schedules;
BEGIN
  SELECT * INTO schedule FROM schedules WHERE event_id = NEW.id;
  NEW.agent_id := coalesce(schedule.agent_id, '');
  NEW.technical_start := coalesce(schedule.start_date, NEW.start_date);
  NEW.technical_end := coalesce(schedule.end_date, NEW.end_date);
  NEW.recording_state := coalesce(schedule.recording_state, '');
  RETURN NEW;
END $$;
-- Runs after events_derived, which derives the bibliographic end.
CREATE OR REPLACE TRIGGER events_scheduled BEFORE INSERT OR UPDATE OF id, agent_id, technical_start, technical_end,
  recording_state, start_date, duration ON events
  FOR EACH ROW EXECUTE FUNCTION show_schedule();
UPDATE events SET agent_id = '';

-- The lock order is event, agent, schedule. Without this trigger a deletion would lock the agent last.
CREATE OR REPLACE FUNCTION lock_agent_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM capture_agents WHERE id = OLD.agent_id FOR NO KEY UPDATE;
  RETURN OLD;
END $$;
CREATE OR REPLACE TRIGGER events_unscheduled BEFORE DELETE ON events
  FOR EACH ROW WHEN (OLD.agent_id <> '') EXECUTE FUNCTION lock_agent_of_event();

DROP INDEX IF EXISTS events_of_processing_state;
CREATE INDEX IF NOT EXISTS events_of_status ON events (status, start_date, id);
CREATE INDEX IF NOT EXISTS events_by_technical_start ON events (technical_start, id);
CREATE INDEX IF NOT EXISTS events_by_technical_end ON events (technical_end, id);
CREATE INDEX IF NOT EXISTS events_of_agent ON events (agent_id, start_date, id) WHERE agent_id <> '';
CREATE INDEX IF NOT EXISTS events_of_agent_by_technical_start ON events (agent_id, technical_start) WHERE agent_id <> '';

-- Deferred, because entries and catalogs are written before their event, whose row is then derived only once.
ALTER TABLE event_acl ALTER CONSTRAINT event_acl_event_id_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE event_catalogs ALTER CONSTRAINT event_catalogs_event_id_fkey DEFERRABLE INITIALLY DEFERRED;
