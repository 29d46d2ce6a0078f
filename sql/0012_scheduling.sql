-- Capture agents and what they are scheduled to record. A constraint keeps two recordings of an agent apart.
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE IF NOT EXISTS capture_agents (
  id            text PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 255),
  -- As the agent last reported it.
  state         text NOT NULL DEFAULT 'unknown' CHECK (state IN
    ('idle', 'capturing', 'uploading', 'unknown', 'shutting_down', 'error', 'offline')),
  url           text NOT NULL DEFAULT '',
  inputs        text[] NOT NULL DEFAULT '{}',
  -- An IANA name: the zone in which a recurring recording keeps its hour.
  time_zone     text NOT NULL DEFAULT 'UTC',
  configuration jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(configuration) = 'object'),
  -- When it last reported; null for one that is only known from schedules.
  seen_at       timestamptz,
  known_since   timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS schedules (
  -- Written before its event, which then shows it from the first; so checked at the end of the transaction.
  event_id        text PRIMARY KEY REFERENCES events ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  agent_id        text NOT NULL REFERENCES capture_agents,
  start_date      timestamptz NOT NULL,
  end_date        timestamptz NOT NULL CHECK (end_date > start_date),
  -- What has to lie between the end and whatever comes next.
  gap_ms          bigint NOT NULL DEFAULT 0 CHECK (gap_ms >= 0),
  -- An administrator let it overlap what was there before.
  allow_conflict  boolean NOT NULL DEFAULT false,
  -- From the start to the end with the gap. Kept by a trigger.
  occupied        tstzrange NOT NULL DEFAULT 'empty',
  -- What nobody else may have: all that is occupied or, where conflicts were allowed, what others had not claimed
  -- before. So whoever conflicts with either of two that overlap is refused. Kept by triggers.
  claimed         tstzmultirange NOT NULL DEFAULT '{}',
  inputs          text[] NOT NULL DEFAULT '{}',
  -- What is started when the recording comes.
  workflow        text NOT NULL,
  configuration   jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(configuration) = 'object'),
  -- How far the recording is; empty until something is known of it.
  recording_state text NOT NULL DEFAULT '' CHECK (recording_state IN
    ('', 'capturing', 'capture_finished', 'capture_error', 'manifest', 'manifest_error', 'manifest_finished',
     'compressing', 'compressing_error', 'uploading', 'upload_finished', 'upload_error')),
  changed_at      timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT schedules_do_not_conflict EXCLUDE USING gist (agent_id WITH =, claimed WITH &&)
);
-- Recordings that may turn out never to have come.
CREATE INDEX IF NOT EXISTS schedules_awaited ON schedules (end_date) WHERE recording_state = '';
CREATE INDEX IF NOT EXISTS schedules_sharing ON schedules USING gist (agent_id, occupied)
  WHERE claimed <> tstzmultirange(occupied);

CREATE OR REPLACE FUNCTION claim_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.occupied := tstzrange(NEW.start_date, NEW.end_date + make_interval(secs => NEW.gap_ms / 1000.0));
  NEW.claimed := tstzmultirange(NEW.occupied);
  IF NEW.allow_conflict THEN
    -- Whoever gives up time of the agent waits; what others have claimed then holds until the transaction ends.
    PERFORM FROM capture_agents WHERE id = NEW.agent_id FOR NO KEY UPDATE;
    NEW.claimed := NEW.claimed - coalesce((SELECT range_agg(part) FROM schedules AS other, unnest(other.claimed) AS part
      WHERE other.agent_id = NEW.agent_id AND other.event_id <> NEW.event_id AND other.claimed && NEW.claimed), '{}');
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER schedules_claim BEFORE INSERT OR UPDATE OF agent_id, start_date, end_date, gap_ms,
  allow_conflict, occupied, claimed ON schedules
  FOR EACH ROW EXECUTE FUNCTION claim_time();

-- Time that a recording gives up goes to those that overlap it there; updating `claimed` has it derived anew.
CREATE OR REPLACE FUNCTION hand_on_time(agent text, freed tstzmultirange) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  sharing text;
BEGIN
  -- Nobody may come to share the time unseen meanwhile.
  PERFORM FROM capture_agents WHERE id = agent FOR NO KEY UPDATE;
  FOR sharing IN SELECT event_id FROM schedules
    WHERE agent_id = agent AND claimed <> tstzmultirange(occupied) AND occupied && freed ORDER BY start_date, event_id
  LOOP
    UPDATE schedules SET claimed = claimed WHERE event_id = sharing;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION schedule_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Of an event that is only about to be written, the event's own trigger takes care. Where others hand on time, events
  -- are left alone: they are locked before agents.
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

-- Whether a track is to be seen or heard: what workflows process, and what counts as the recording of an event. The
-- type of a file that is not recognised says nothing; then it is what its flavor promises.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS is_media boolean NOT NULL GENERATED ALWAYS AS (
  flavor NOT LIKE 'captions/%' AND (mediatype LIKE 'audio/%' OR mediatype LIKE 'video/%' OR mediatype = 'application/mxf'
    OR mediatype = 'application/octet-stream'
      AND flavor IN ('presenter/source', 'presentation/source', 'presenter-audio/source'))) STORED;

-- What lists show, filter and sort by, beside the event's row. Kept by a trigger; nobody else writes them.
ALTER TABLE events
  -- Empty for an event that was never scheduled.
  ADD COLUMN IF NOT EXISTS agent_id        text NOT NULL DEFAULT '',
  -- When it is to be recorded; the bibliographic times of an event that was never scheduled.
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
-- Runs after events_derived, which finds the bibliographic end.
CREATE OR REPLACE TRIGGER events_scheduled BEFORE INSERT OR UPDATE OF id, agent_id, technical_start, technical_end,
  recording_state, start_date, duration ON events
  FOR EACH ROW EXECUTE FUNCTION show_schedule();
UPDATE events SET agent_id = '';

-- All lock in one order: event, agent, schedule. Without this a deletion would come to the agent last.
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

-- What belongs to an event may be written before it: the row of the event, with all that it shows, is then written once.
ALTER TABLE event_acl ALTER CONSTRAINT event_acl_event_id_fkey DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE event_catalogs ALTER CONSTRAINT event_catalogs_event_id_fkey DEFERRABLE INITIALLY DEFERRED;
