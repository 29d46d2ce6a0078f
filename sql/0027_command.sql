-- What made a track: null for those that clients sent, else the command of the site, so that it replaces what it made.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS made_by text;
