-- Processes with workers, including those that stopped a short time ago.
CREATE TABLE IF NOT EXISTS worker_processes (
  name        text PRIMARY KEY,
  host        text NOT NULL,
  pid         integer NOT NULL,
  runtime     text NOT NULL,
  version     text NOT NULL,
  concurrency integer NOT NULL,
  started_at  timestamptz NOT NULL DEFAULT now(),
  seen_at     timestamptz NOT NULL DEFAULT now(),
  -- True if the process claims no further operations.
  draining    boolean NOT NULL DEFAULT false
);

-- Settings of lanes by operators. Lanes without a row use the settings of their processes.
CREATE TABLE IF NOT EXISTS lane_settings (
  lane        text PRIMARY KEY,
  -- True if no operations of the lane are started.
  paused      boolean NOT NULL DEFAULT false,
  -- Concurrent operations in each process; null for the setting of the process.
  concurrency integer CHECK (concurrency BETWEEN 1 AND 256),
  changed_by  text NOT NULL DEFAULT '',
  changed_at  timestamptz NOT NULL DEFAULT now()
);
