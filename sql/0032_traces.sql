-- The trace context in which the workflow was started (`traceparent` of W3C Trace Context); null without tracing.
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS traceparent text;
