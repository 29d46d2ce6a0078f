-- Editing: who has a recording open in an editor, and what an editor leaves out.
CREATE TABLE IF NOT EXISTS editor_locks (
  event_id   text PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  -- Chosen by the editor, which refreshes and releases the lock with it.
  uuid       text NOT NULL CHECK (length(uuid) BETWEEN 1 AND 100),
  username   text NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The kinds of streams that are left out of renditions.
ALTER TABLE tracks ADD COLUMN IF NOT EXISTS hidden_streams text[] NOT NULL DEFAULT '{}'
  CHECK (hidden_streams <@ '{audio,video}');

-- The track that a file for editors was made from; null for files from clients. Files of removed tracks are removed by the
-- operation that makes these files.
ALTER TABLE attachments ADD COLUMN IF NOT EXISTS track_id uuid;
