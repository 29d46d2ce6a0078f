-- Finished messages are removed by state, because parked ones are kept longer. The former index read these each time.
CREATE INDEX IF NOT EXISTS webhook_deliveries_ended_in_state ON webhook_deliveries (state, ended_at) WHERE state <> 'pending';
DROP INDEX IF EXISTS webhook_deliveries_ended;
