-- Who is told of changes at an address of their own.
CREATE TABLE IF NOT EXISTS webhooks (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  url          text NOT NULL,
  -- What messages are signed with, as the receiver has it.
  secret       text NOT NULL CHECK (secret LIKE 'whsec\_%'),
  filter       text NOT NULL DEFAULT '',
  active       boolean NOT NULL DEFAULT true,
  created_by   text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- The change after which it is told.
  since        bigint NOT NULL,
  -- Attempts that failed since the last one that did not.
  failures     integer NOT NULL DEFAULT 0,
  -- Until then nothing is tried: its address has failed again and again.
  paused_until timestamptz NOT NULL DEFAULT '-infinity',
  last_success timestamptz,
  last_error   text
);

-- A message for a webhook; its rows are the queue.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id  bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  -- What makes it known again; the receiver gets it as the message's identifier.
  message_id  text NOT NULL UNIQUE,
  kind        text NOT NULL,
  body        text NOT NULL,
  -- Messages with the same key are delivered one after the other.
  order_key   text NOT NULL,
  state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'parked')),
  attempts    integer NOT NULL DEFAULT 0,
  -- Infinity while another message of its key is to come first.
  next_at     timestamptz NOT NULL DEFAULT now(),
  -- Until then a process has it.
  taken_until timestamptz,
  token       bigint NOT NULL DEFAULT 0,
  last_status integer,
  last_error  text,
  created_at  timestamptz NOT NULL DEFAULT now(),
  ended_at    timestamptz
);
CREATE INDEX IF NOT EXISTS webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at, id) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS webhook_deliveries_of_key ON webhook_deliveries (webhook_id, order_key, id)
  WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS webhook_deliveries_taken ON webhook_deliveries (webhook_id, taken_until)
  WHERE state = 'pending' AND taken_until IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_deliveries_of_state ON webhook_deliveries (webhook_id, state, id);
CREATE INDEX IF NOT EXISTS webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE state <> 'pending';
