-- True if the event has its own access control list, even an empty one; it then does not use the roles of its series. An
-- event with entries always has its own list, because earlier versions do not set this column.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'events'::regclass AND attname = 'own_acl') THEN
    ALTER TABLE events ADD COLUMN own_acl boolean NOT NULL DEFAULT false;
  ELSE
    -- 0007, if it ran again, ignores this column.
    UPDATE events SET read_roles = '{}', write_roles = '{}'
    WHERE own_acl AND NOT EXISTS (SELECT FROM event_acl WHERE event_id = events.id);
  END IF;
END $$;

-- Returns the series whose roles an event without entries has.
CREATE OR REPLACE FUNCTION followed_series(events) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE WHEN NOT $1.own_acl THEN $1.series_id END
$$;

CREATE OR REPLACE FUNCTION event_acl_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id IN
    (SELECT events.series_id FROM events JOIN changed ON changed.event_id = events.id) ORDER BY id FOR SHARE;
  UPDATE events SET read_roles = event_roles(id, followed_series(events), 'read'),
    write_roles = event_roles(id, followed_series(events), 'write')
  WHERE id IN (SELECT event_id FROM changed);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION series_acl_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id IN (SELECT series_id FROM changed) ORDER BY id FOR UPDATE;
  UPDATE series SET read_roles = series_roles(id, 'read'), write_roles = series_roles(id, 'write')
  WHERE id IN (SELECT series_id FROM changed);
  UPDATE events SET read_roles = series_roles(series_id, 'read'), write_roles = series_roles(series_id, 'write')
  WHERE series_id IN (SELECT series_id FROM changed)
    AND NOT own_acl AND NOT EXISTS (SELECT FROM event_acl WHERE event_id = events.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION event_series_chosen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id = NEW.series_id FOR SHARE;
  NEW.read_roles := event_roles(NEW.id, followed_series(NEW), 'read');
  NEW.write_roles := event_roles(NEW.id, followed_series(NEW), 'write');
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER event_series_chosen BEFORE INSERT OR UPDATE OF series_id, own_acl ON events
  FOR EACH ROW EXECUTE FUNCTION event_series_chosen();
