-- Labels from clients, such as lang:de. They distinguish tracks of one flavor.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS tags text[] NOT NULL DEFAULT '{}';
