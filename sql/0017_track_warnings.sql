-- What inspection found that may be wrong with a track though it was processed, in sentences for people.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS warnings text[] NOT NULL DEFAULT '{}';
