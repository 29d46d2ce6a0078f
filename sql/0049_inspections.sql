-- With duration and streams, all that tools need to know of a track, so that they do not examine it again. Null before
-- an inspection.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS inspection jsonb CHECK (jsonb_typeof(inspection) = 'object');
