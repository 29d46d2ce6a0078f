-- Labels that clients give a track (lang:de, subtitle); among tracks of one flavor they tell which is which.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS tags text[] NOT NULL DEFAULT '{}';
