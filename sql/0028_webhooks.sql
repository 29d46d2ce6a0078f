-- Receivers of changes.
CREATE TABLE IF NOT EXISTS webhooks (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  url          text NOT NULL,
  -- The key that signs messages, in the form that the receiver has.
  secret       text NOT NULL CHECK (secret LIKE 'whsec\_%'),
  filter       text NOT NULL DEFAULT '',
  active       boolean NOT NULL DEFAULT true,
  created_by   text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL DEFAULT now(),
  -- Only later changes are delivered.
  since        bigint NOT NULL,
  -- Consecutive failed attempts.
  failures     integer NOT NULL DEFAULT 0,
  -- No attempts before this time, because of repeated failures.
  paused_until timestamptz NOT NULL DEFAULT '-infinity',
  last_success timestamptz,
  last_error   text
);

-- The queue of messages for webhooks.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id  bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  -- The identifier that the receiver gets, to recognise repeated messages.
  message_id  text NOT NULL UNIQUE,
  kind        text NOT NULL,
  body        text NOT NULL,
  -- Messages with the same key are delivered in order.
  order_key   text NOT NULL,
  state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'parked')),
  attempts    integer NOT NULL DEFAULT 0,
  -- Infinity while an earlier message of its key is pending.
  next_at     timestamptz NOT NULL DEFAULT now(),
  -- A process delivers it until this time.
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
