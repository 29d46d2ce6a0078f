-- Processes with workers that live, and those that fell silent a while ago.
CREATE TABLE IF NOT EXISTS worker_processes (
  name        text PRIMARY KEY,
  host        text NOT NULL,
  pid         integer NOT NULL,
  runtime     text NOT NULL,
  version     text NOT NULL,
  concurrency integer NOT NULL,
  started_at  timestamptz NOT NULL DEFAULT now(),
  seen_at     timestamptz NOT NULL DEFAULT now(),
  -- It takes no further operation.
  draining    boolean NOT NULL DEFAULT false
);

-- What operators have set of lanes; of others, what the processes were started with holds.
CREATE TABLE IF NOT EXISTS lane_settings (
  lane        text PRIMARY KEY,
  -- Nothing of it is begun.
  paused      boolean NOT NULL DEFAULT false,
  -- Operations at once in each process; null for what that was started with.
  concurrency integer CHECK (concurrency BETWEEN 1 AND 256),
  changed_by  text NOT NULL DEFAULT '',
  changed_at  timestamptz NOT NULL DEFAULT now()
);
