-- Accounts of people and programs. The administrator of the configuration has no row.
CREATE TABLE IF NOT EXISTS accounts (
  username      text PRIMARY KEY CHECK (username ~ '^[^:[:cntrl:]]{1,128}$'),
  password_hash text NOT NULL,
  name          text NOT NULL DEFAULT '',
  email         text NOT NULL DEFAULT '',
  roles         text[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now()
);
