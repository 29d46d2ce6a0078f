-- The default metadata catalog of series (dublincore/series).
DO $$ BEGIN
  IF EXISTS (SELECT FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = 'series' AND column_name = 'created_at') THEN
    ALTER TABLE series RENAME COLUMN created_at TO created;
  END IF;
END $$;
ALTER TABLE series
  ADD COLUMN IF NOT EXISTS description   text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS subjects      text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS language      text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS rights_holder text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS license       text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS organizers    text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS contributors  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS publishers    text[] NOT NULL DEFAULT '{}',
  -- Texts by name that clients store, for example `theme`.
  ADD COLUMN IF NOT EXISTS properties    jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(properties) = 'object');

-- Extended catalogs: values by field.
CREATE TABLE IF NOT EXISTS series_catalogs (
  series_id text NOT NULL REFERENCES series ON DELETE CASCADE,
  flavor    text NOT NULL CHECK (flavor ~ '^[^/]+/[^/]+$'),
  fields    jsonb NOT NULL CHECK (jsonb_typeof(fields) = 'object'),
  PRIMARY KEY (series_id, flavor)
);
