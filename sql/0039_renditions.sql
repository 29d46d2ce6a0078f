-- Renditions: a track has several media, and the workflow that made them may publish them one after another.
ALTER TABLE publication_elements
  -- The position of the track from which it was made; null for catalogs and for images of earlier versions.
  ADD COLUMN IF NOT EXISTS track       integer,
  -- The workflow that made it. Media of one workflow belong together.
  ADD COLUMN IF NOT EXISTS workflow_id bigint;
UPDATE publication_elements SET track = position WHERE kind = 'media' AND track IS NULL;
