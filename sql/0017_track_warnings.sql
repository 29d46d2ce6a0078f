-- Possible faults of a track that inspection found, as sentences.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS warnings text[] NOT NULL DEFAULT '{}';
