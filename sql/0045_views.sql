-- Views of recordings. A view is one started watch; views are summed by hour, in the time zone of the server, and no viewer is
-- stored. The reconciler merges the hours of old days, so that an event has at most one row per day in the long run.
CREATE TABLE IF NOT EXISTS event_views (
  event_id text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  hour     timestamptz NOT NULL,
  views    integer NOT NULL CHECK (views > 0),
  PRIMARY KEY (event_id, hour)
);
-- For merging.
CREATE INDEX IF NOT EXISTS event_views_hour ON event_views (hour);

-- The views of all events, including events that have been deleted since: one row per hour, whatever the number of events.
CREATE TABLE IF NOT EXISTS organization_views (
  hour  timestamptz PRIMARY KEY,
  views integer NOT NULL CHECK (views > 0)
);
