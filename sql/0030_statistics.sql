-- How it goes: what the log of changes tells, added up by the hour and by the day (UTC), so that a picture of a month costs
-- the reading of few rows.
CREATE TABLE IF NOT EXISTS statistics_counts (
  period  text NOT NULL CHECK (period IN ('hour', 'day')),
  start   timestamptz NOT NULL,
  measure text NOT NULL,
  -- What is counted apart: the state in which workflows ended, the reason of failures.
  label   text NOT NULL DEFAULT '',
  -- Of lengths of time, those that are about the same are counted together.
  bucket  integer NOT NULL DEFAULT 0,
  count   bigint NOT NULL,
  -- Bytes, or milliseconds.
  sum     bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (period, start, measure, label, bucket)
);

-- How many bytes were stored: once in an hour, and of what is long ago once in a day.
CREATE TABLE IF NOT EXISTS storage_sizes (
  hour       timestamptz PRIMARY KEY,
  -- What clients sent: tracks and attachments.
  received   bigint NOT NULL,
  -- What processing made of it.
  processed  bigint NOT NULL,
  -- What no event has: drafts and uploads.
  unfinished bigint NOT NULL
);

-- Since when it waits for a worker, or did before it was taken.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS ready_at timestamptz;
