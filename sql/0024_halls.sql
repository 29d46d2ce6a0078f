-- Recordings that failed, the last ones first; one that has failed before its state had a date failed when it was over.
CREATE INDEX IF NOT EXISTS schedules_failed ON schedules (coalesce(recording_state_since, end_date))
  WHERE recording_state LIKE '%\_error';
