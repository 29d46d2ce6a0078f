-- Columns for sorting, filtering and searching lists, with their indexes.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

ALTER TABLE events
  -- Bibliographic end: start plus duration. Derived by a trigger.
  ADD COLUMN IF NOT EXISTS end_date     timestamptz NOT NULL DEFAULT '-infinity',
  -- Title of the series, or empty. Derived by triggers.
  ADD COLUMN IF NOT EXISTS series_title text NOT NULL DEFAULT '',
  -- All metadata in lower case, for textFilter. Derived by triggers.
  ADD COLUMN IF NOT EXISTS search_text  text NOT NULL DEFAULT '';
ALTER TABLE series ADD COLUMN IF NOT EXISTS search_text text NOT NULL DEFAULT '';

CREATE OR REPLACE FUNCTION searchable(VARIADIC parts text[]) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT lower(array_to_string(array_remove(parts, ''), ' ') COLLATE "und-x-icu")
$$;

-- Returns all values of a catalog, including the items of lists.
CREATE OR REPLACE FUNCTION catalog_text(fields jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT coalesce(string_agg(value #>> '{}', ' '), '')
  FROM jsonb_path_query(fields, 'strict $.** ? (@.type() == "string" || @.type() == "number")') AS value
$$;

CREATE OR REPLACE FUNCTION derive_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.end_date := NEW.start_date + make_interval(secs => coalesce(NEW.duration, 0) / 1000.0);
  NEW.series_title := coalesce((SELECT title FROM series WHERE id = NEW.series_id), '');
  NEW.search_text := searchable(NEW.id, NEW.title, NEW.description, array_to_string(NEW.subjects, ' '), NEW.language,
    NEW.rights_holder, NEW.license, array_to_string(NEW.presenters, ' '), array_to_string(NEW.contributors, ' '),
    NEW.location, NEW.source, NEW.publisher, NEW.series_id, NEW.series_title, NEW.creator,
    (SELECT string_agg(catalog_text(fields), ' ' ORDER BY flavor) FROM event_catalogs WHERE event_id = NEW.id));
  RETURN NEW;
END $$;
-- Runs after event_series_chosen, which locks the series: triggers fire in the order of their names.
CREATE OR REPLACE TRIGGER events_derived BEFORE INSERT OR UPDATE OF id, title, description, subjects, language,
  rights_holder, license, presenters, contributors, location, source, publisher, series_id, start_date, duration,
  creator, search_text ON events
  FOR EACH ROW EXECUTE FUNCTION derive_event();

CREATE OR REPLACE FUNCTION event_catalogs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events SET search_text = '' WHERE id IN (SELECT event_id FROM changed);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER event_catalogs_inserted AFTER INSERT ON event_catalogs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_catalogs_changed();
CREATE OR REPLACE TRIGGER event_catalogs_updated AFTER UPDATE ON event_catalogs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_catalogs_changed();
CREATE OR REPLACE TRIGGER event_catalogs_deleted AFTER DELETE ON event_catalogs
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION event_catalogs_changed();

CREATE OR REPLACE FUNCTION derive_series() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.search_text := searchable(NEW.id, NEW.title, NEW.description, array_to_string(NEW.subjects, ' '), NEW.language,
    NEW.rights_holder, NEW.license, array_to_string(NEW.organizers, ' '), array_to_string(NEW.contributors, ' '),
    array_to_string(NEW.publishers, ' '), NEW.creator,
    (SELECT string_agg(catalog_text(fields), ' ' ORDER BY flavor) FROM series_catalogs WHERE series_id = NEW.id));
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER series_derived BEFORE INSERT OR UPDATE OF id, title, description, subjects, language,
  rights_holder, license, organizers, contributors, publishers, creator, search_text ON series
  FOR EACH ROW EXECUTE FUNCTION derive_series();

CREATE OR REPLACE FUNCTION series_catalogs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE series SET search_text = '' WHERE id IN (SELECT series_id FROM changed);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_catalogs_inserted AFTER INSERT ON series_catalogs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_catalogs_changed();
CREATE OR REPLACE TRIGGER series_catalogs_updated AFTER UPDATE ON series_catalogs
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_catalogs_changed();
CREATE OR REPLACE TRIGGER series_catalogs_deleted AFTER DELETE ON series_catalogs
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION series_catalogs_changed();

-- When a series is created, deleted or renamed, its events show another title, and events without an ACL get other roles.
-- Setting series_id to itself runs the triggers of events, which derive both.
CREATE OR REPLACE FUNCTION series_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events SET series_id = series_id WHERE series_id = coalesce(NEW.id, OLD.id);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER series_appeared AFTER INSERT OR DELETE ON series
  FOR EACH ROW EXECUTE FUNCTION series_changed();
CREATE OR REPLACE TRIGGER series_renamed AFTER UPDATE OF title ON series
  FOR EACH ROW WHEN (OLD.title IS DISTINCT FROM NEW.title) EXECUTE FUNCTION series_changed();

UPDATE series SET search_text = '';
UPDATE events SET search_text = '';

-- Sort criteria, then the identifier in the same direction.
DROP INDEX IF EXISTS events_start_date, events_series;
CREATE INDEX IF NOT EXISTS events_by_start_date ON events (start_date, id);
CREATE INDEX IF NOT EXISTS events_by_end_date ON events (end_date, id);
CREATE INDEX IF NOT EXISTS events_by_title ON events (title COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS events_by_presenter ON events ((coalesce(presenters[1], '')) COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS events_by_processing_state ON events (processing_state, id);
CREATE INDEX IF NOT EXISTS events_by_series_title ON events (series_title COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS events_by_location ON events (location COLLATE "und-x-icu", id);

-- Filters: the events of one value in the default order. Empty values are never filtered for.
CREATE INDEX IF NOT EXISTS events_of_processing_state ON events (processing_state, start_date, id);
CREATE INDEX IF NOT EXISTS events_of_series ON events (series_id, start_date, id) WHERE series_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS events_of_series_title ON events (series_title, start_date, id) WHERE series_title <> '';
CREATE INDEX IF NOT EXISTS events_of_location ON events (location, start_date, id) WHERE location <> '';
CREATE INDEX IF NOT EXISTS events_of_language ON events (language, start_date, id) WHERE language <> '';
CREATE INDEX IF NOT EXISTS events_of_license ON events (license, start_date, id) WHERE license <> '';
CREATE INDEX IF NOT EXISTS events_of_rights_holder ON events (rights_holder, start_date, id) WHERE rights_holder <> '';
CREATE INDEX IF NOT EXISTS events_of_source ON events (source, start_date, id) WHERE source <> '';
CREATE INDEX IF NOT EXISTS events_of_title ON events (title, start_date, id);
CREATE INDEX IF NOT EXISTS events_of_created ON events (created);
-- Descriptions are too long for other kinds of indexes.
CREATE INDEX IF NOT EXISTS events_of_description ON events USING hash (description) WHERE description <> '';
CREATE INDEX IF NOT EXISTS events_of_presenters ON events USING gin (presenters) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS events_of_contributors ON events USING gin (contributors) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS events_of_subjects ON events USING gin (subjects) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS events_of_search_text ON events USING gin (search_text gin_trgm_ops) WITH (fastupdate = off);

CREATE INDEX IF NOT EXISTS series_by_created ON series (created, id);
CREATE INDEX IF NOT EXISTS series_by_title ON series (title COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS series_by_organizer ON series ((coalesce(organizers[1], '')) COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS series_by_contributor ON series ((coalesce(contributors[1], '')) COLLATE "und-x-icu", id);
CREATE INDEX IF NOT EXISTS series_of_title ON series (title, created, id);
CREATE INDEX IF NOT EXISTS series_of_creator ON series (creator, created, id);
CREATE INDEX IF NOT EXISTS series_of_language ON series (language, created, id) WHERE language <> '';
CREATE INDEX IF NOT EXISTS series_of_license ON series (license, created, id) WHERE license <> '';
CREATE INDEX IF NOT EXISTS series_of_rights_holder ON series (rights_holder, created, id) WHERE rights_holder <> '';
CREATE INDEX IF NOT EXISTS series_of_description ON series USING hash (description) WHERE description <> '';
CREATE INDEX IF NOT EXISTS series_of_subjects ON series USING gin (subjects) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_of_organizers ON series USING gin (organizers) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_of_contributors ON series USING gin (contributors) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_of_publishers ON series USING gin (publishers) WITH (fastupdate = off);
CREATE INDEX IF NOT EXISTS series_of_search_text ON series USING gin (search_text gin_trgm_ops) WITH (fastupdate = off);
