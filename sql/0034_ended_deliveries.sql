-- Messages that ended are removed by their state: parked ones stay for longer, and were walked over each time.
CREATE INDEX IF NOT EXISTS webhook_deliveries_ended_in_state ON webhook_deliveries (state, ended_at) WHERE state <> 'pending';
DROP INDEX IF EXISTS webhook_deliveries_ended;
