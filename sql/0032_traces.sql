-- Where in which trace a workflow was started (`traceparent` of W3C Trace Context); null while nothing is traced.
ALTER TABLE workflows ADD COLUMN IF NOT EXISTS traceparent text;
