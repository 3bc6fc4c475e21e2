-- Endpoints to which changes are sent, and what is sent to them.

CREATE TABLE webhooks (
  id                text COLLATE "C" PRIMARY KEY,
  party             text COLLATE "C" NOT NULL REFERENCES parties,
  url               text NOT NULL CHECK (length(url) BETWEEN 1 AND 4000),
  description       text NOT NULL CHECK (length(description) <= 1000),
  -- Empty: every kind.
  kinds             text[] NOT NULL,
  state             text NOT NULL CHECK (state IN ('ACTIVE', 'PAUSED')),
  pause_reason      text CHECK ((pause_reason IS NULL) = (state = 'ACTIVE')),
  skipped_time      timestamptz,
  -- Sealed with a key that is not in the database.
  secret            bytea NOT NULL,
  old_secret        bytea,
  old_secret_expiry timestamptz CHECK ((old_secret_expiry IS NULL) = (old_secret IS NULL)),
  -- Up to this place in the log of the party, changes have become deliveries.
  cursor_xid        xid8 NOT NULL,
  cursor_seq        bigint NOT NULL,
  -- Rounds in a row in which nothing was delivered, and when the next one is due.
  failures          integer NOT NULL DEFAULT 0,
  next_attempt_time timestamptz NOT NULL,
  -- Who delivers at the moment. When the lease has expired, another exchange takes over.
  lease_owner       text,
  lease_expiry      timestamptz CHECK ((lease_expiry IS NULL) = (lease_owner IS NULL)),
  create_time       timestamptz NOT NULL,
  update_time       timestamptz NOT NULL CHECK (update_time >= create_time)
);
CREATE INDEX webhooks_by_create_time ON webhooks (party, create_time, id);
CREATE INDEX webhooks_by_next_attempt ON webhooks (next_attempt_time, id);

CREATE TABLE webhook_deliveries (
  webhook            text COLLATE "C" NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  -- In the order in which they are sent, per resource.
  number             bigint GENERATED ALWAYS AS IDENTITY,
  -- The place of the change in the log; a test has none.
  xid                xid8,
  seq                bigint CHECK ((seq IS NULL) = (xid IS NULL)),
  resource           text COLLATE "C" NOT NULL,
  kind               text NOT NULL,
  resource_state     text,
  version            integer NOT NULL,
  time               timestamptz NOT NULL,
  state              text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
  attempts           integer NOT NULL DEFAULT 0,
  first_failure_time timestamptz,
  last_attempt_time  timestamptz,
  next_attempt_time  timestamptz,
  status             integer,
  error              text CHECK (length(error) <= 1000),
  milliseconds       integer,
  create_time        timestamptz NOT NULL,
  PRIMARY KEY (webhook, number),
  CHECK ((state = 'PENDING') = (next_attempt_time IS NOT NULL))
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook, number) WHERE state = 'PENDING';
