-- Statistics: the log of changes, summed by hour and by day (UTC), so that a chart of a month reads few rows.
CREATE TABLE IF NOT EXISTS statistics_counts (
  period  text NOT NULL CHECK (period IN ('hour', 'day')),
  start   timestamptz NOT NULL,
  measure text NOT NULL,
  -- Separates counts by the final state of workflows or the reason of failures.
  label   text NOT NULL DEFAULT '',
  -- The histogram bucket of a duration.
  bucket  integer NOT NULL DEFAULT 0,
  count   bigint NOT NULL,
  -- Bytes, or milliseconds.
  sum     bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (period, start, measure, label, bucket)
);

-- Stored bytes, measured hourly; old measurements are thinned to one per day.
CREATE TABLE IF NOT EXISTS storage_sizes (
  hour       timestamptz PRIMARY KEY,
  -- Tracks and attachments from clients.
  received   bigint NOT NULL,
  -- Files made by processing.
  processed  bigint NOT NULL,
  -- Drafts and uploads.
  unfinished bigint NOT NULL
);

-- The time when the operation became ready for a worker.
ALTER TABLE workflow_operations ADD COLUMN IF NOT EXISTS ready_at timestamptz;
