-- Failed recordings by time. Without a time of the state, the end of the schedule counts.
CREATE INDEX IF NOT EXISTS schedules_failed ON schedules (coalesce(recording_state_since, end_date))
  WHERE recording_state LIKE '%\_error';
