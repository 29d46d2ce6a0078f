-- Roles that may read and write an event or a series. Lists filter by these columns. Only triggers write them; they derive
-- them from the access control lists.
ALTER TABLE series
  ADD COLUMN IF NOT EXISTS read_roles  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS write_roles text[] NOT NULL DEFAULT '{}';
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS read_roles  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS write_roles text[] NOT NULL DEFAULT '{}';

CREATE OR REPLACE FUNCTION series_roles(series text, wanted text) RETURNS text[] STABLE LANGUAGE sql AS $$
  SELECT coalesce(array_agg(role ORDER BY role), '{}') FROM series_acl
  WHERE series_id = series AND action = wanted AND allow
$$;

-- An event without entries has the roles of its series.
CREATE OR REPLACE FUNCTION event_roles(event text, series text, wanted text) RETURNS text[] STABLE LANGUAGE sql AS $$
  SELECT CASE WHEN EXISTS (SELECT FROM event_acl WHERE event_id = event)
    THEN (SELECT coalesce(array_agg(role ORDER BY role), '{}') FROM event_acl
          WHERE event_id = event AND action = wanted AND allow)
    ELSE series_roles(series, wanted) END
$$;

-- Deriving the roles of an event locks its series FOR SHARE; changing the ACL of a series locks it FOR UPDATE. So neither
-- misses a concurrent commit of the other.
CREATE OR REPLACE FUNCTION event_acl_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id IN
    (SELECT events.series_id FROM events JOIN changed ON changed.event_id = events.id) ORDER BY id FOR SHARE;
  UPDATE events SET read_roles = event_roles(id, series_id, 'read'), write_roles = event_roles(id, series_id, 'write')
  WHERE id IN (SELECT event_id FROM changed);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER event_acl_inserted AFTER INSERT ON event_acl
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_acl_changed();
CREATE OR REPLACE TRIGGER event_acl_updated AFTER UPDATE ON event_acl
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_acl_changed();
CREATE OR REPLACE TRIGGER event_acl_deleted AFTER DELETE ON event_acl
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_acl_changed();

CREATE OR REPLACE FUNCTION series_acl_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id IN (SELECT series_id FROM changed) ORDER BY id FOR UPDATE;
  UPDATE series SET read_roles = series_roles(id, 'read'), write_roles = series_roles(id, 'write')
  WHERE id IN (SELECT series_id FROM changed);
  UPDATE events SET read_roles = series_roles(series_id, 'read'), write_roles = series_roles(series_id, 'write')
  WHERE series_id IN (SELECT series_id FROM changed)
    AND NOT EXISTS (SELECT FROM event_acl WHERE event_id = events.id);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_acl_inserted AFTER INSERT ON series_acl
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_acl_changed();
CREATE OR REPLACE TRIGGER series_acl_updated AFTER UPDATE ON series_acl
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_acl_changed();
CREATE OR REPLACE TRIGGER series_acl_deleted AFTER DELETE ON series_acl
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_acl_changed();

CREATE OR REPLACE FUNCTION event_series_chosen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM series WHERE id = NEW.series_id FOR SHARE;
  NEW.read_roles := event_roles(NEW.id, NEW.series_id, 'read');
  NEW.write_roles := event_roles(NEW.id, NEW.series_id, 'write');
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER event_series_chosen BEFORE INSERT OR UPDATE OF series_id ON events
  FOR EACH ROW EXECUTE FUNCTION event_series_chosen();

UPDATE series SET read_roles = series_roles(id, 'read'), write_roles = series_roles(id, 'write');
UPDATE events SET read_roles = event_roles(id, series_id, 'read'), write_roles = event_roles(id, series_id, 'write');

CREATE INDEX IF NOT EXISTS events_read_roles ON events USING gin (read_roles) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS events_write_roles ON events USING gin (write_roles) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_read_roles ON series USING gin (read_roles) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_write_roles ON series USING gin (write_roles) WITH (fastupdate = off);
-- Replaced by the columns above.
DROP INDEX IF EXISTS event_acl_role;
DROP INDEX IF EXISTS series_acl_role;
