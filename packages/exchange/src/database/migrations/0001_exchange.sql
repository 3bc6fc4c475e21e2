-- Party names are stored whole (dataProviders/x), so that a foreign key is one column and a log line reads
-- without a join. The tables carry the invariants; the code only has to be right, not careful.

CREATE TABLE settings (
  key   text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE parties (
  name                  text COLLATE "C" PRIMARY KEY
                        CHECK (name ~ '^(measurementConsumers|dataProviders|duchies)/[A-Za-z0-9_-]{1,63}$'),
  display_name          text NOT NULL DEFAULT '' CHECK (length(display_name) <= 255),
  state                 text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'SUSPENDED')),
  -- A SignedMessage of the party's EncryptionPublicKey.
  public_key            bytea,
  public_key_signature  bytea,
  public_key_certificate text COLLATE "C",
  -- Multi-party protocols the provider can take part in.
  protocols             text[] NOT NULL DEFAULT '{}',
  create_time           timestamptz NOT NULL,
  update_time           timestamptz NOT NULL CHECK (update_time >= create_time)
);

CREATE TABLE principals (
  issuer      text COLLATE "C" NOT NULL CHECK (length(issuer) <= 1000),
  subject     text COLLATE "C" NOT NULL CHECK (length(subject) <= 255),
  -- A party name or 'operator'.
  resource    text COLLATE "C" NOT NULL,
  create_time timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);

CREATE TABLE certificates (
  party                  text COLLATE "C" NOT NULL REFERENCES parties,
  id                     text COLLATE "C" NOT NULL CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$' AND id NOT IN ('-', 'preferred')),
  x509_der               bytea NOT NULL,
  subject_key_identifier bytea NOT NULL,
  not_before             timestamptz NOT NULL,
  not_after              timestamptz NOT NULL,
  revocation_state       text CHECK (revocation_state IN ('HOLD', 'REVOKED')),
  create_time            timestamptz NOT NULL,
  PRIMARY KEY (party, id)
);
CREATE UNIQUE INDEX certificates_der ON certificates (sha256(x509_der));

CREATE TABLE measurements (
  id                text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  consumer          text COLLATE "C" NOT NULL CHECK (consumer LIKE 'measurementConsumers/%'),
  certificate       text COLLATE "C" NOT NULL,
  spec_message      bytea NOT NULL,
  spec_signature    bytea NOT NULL,
  spec_algorithm    text,
  reference_id      text CHECK (length(reference_id) <= 255),
  request_id        text CHECK (length(request_id) BETWEEN 1 AND 255),
  request_hash      bytea CHECK ((request_hash IS NULL) = (request_id IS NULL)),
  measurement_type  text,
  protocol          text NOT NULL,
  state             text NOT NULL CHECK (state IN
                    ('AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  failure_reason    text CHECK ((failure_reason IS NOT NULL) = (state = 'FAILED')),
  failure_message   text CHECK ((failure_message IS NOT NULL) = (state = 'FAILED')),
  requisition_count integer NOT NULL CHECK (requisition_count >= 1),
  version           integer NOT NULL CHECK (version >= 1),
  create_time       timestamptz NOT NULL,
  update_time       timestamptz NOT NULL CHECK (update_time >= create_time),
  FOREIGN KEY (consumer, certificate) REFERENCES certificates (party, id)
);
CREATE UNIQUE INDEX measurements_request_id ON measurements (consumer, request_id) WHERE request_id IS NOT NULL;
-- One index probe per state and page, whatever the filter and however long the table.
CREATE INDEX measurements_by_create_time ON measurements (consumer, state, create_time, id);
CREATE INDEX measurements_by_update_time ON measurements (consumer, state, update_time, id);

CREATE TABLE requisitions (
  id                   text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  provider             text COLLATE "C" NOT NULL CHECK (provider LIKE 'dataProviders/%'),
  measurement          text COLLATE "C" NOT NULL REFERENCES measurements,
  -- Position in the request's map, so that reads keep its order.
  ordinal              integer NOT NULL,
  certificate          text COLLATE "C" NOT NULL,
  public_key_type      text NOT NULL,
  public_key_data      bytea NOT NULL,
  public_key_format    text,
  spec_ciphertext      bytea NOT NULL,
  spec_type_url        text NOT NULL,
  -- 64-bit nonces are unsigned; they are stored as the signed integer of the same 8 bytes.
  disclosed_nonce      bigint,
  nonce_hash           bytea NOT NULL CHECK (octet_length(nonce_hash) = 32),
  state                text NOT NULL CHECK (state IN ('UNFULFILLED', 'FULFILLED', 'REFUSED', 'WITHDRAWN')),
  refusal_justification text CHECK ((refusal_justification IS NOT NULL) = (state = 'REFUSED')),
  refusal_message      text,
  nonce                bigint CHECK ((nonce IS NOT NULL) = (state = 'FULFILLED')),
  result_certificate   text COLLATE "C" CHECK ((result_certificate IS NOT NULL) = (state = 'FULFILLED')),
  result_ciphertext    bytea CHECK ((result_ciphertext IS NOT NULL) = (state = 'FULFILLED')),
  result_type_url      text CHECK ((result_type_url IS NOT NULL) = (state = 'FULFILLED')),
  fulfillment_context  jsonb,
  version              integer NOT NULL CHECK (version >= 1),
  create_time          timestamptz NOT NULL,
  update_time          timestamptz NOT NULL CHECK (update_time >= create_time),
  UNIQUE (measurement, provider),
  FOREIGN KEY (provider, certificate) REFERENCES certificates (party, id),
  FOREIGN KEY (provider, result_certificate) REFERENCES certificates (party, id)
);
CREATE INDEX requisitions_by_create_time ON requisitions (provider, state, create_time, id);
CREATE INDEX requisitions_by_update_time ON requisitions (provider, state, update_time, id);

CREATE TABLE event_group_metadata_descriptors (
  id             text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  provider       text COLLATE "C" NOT NULL REFERENCES parties CHECK (provider LIKE 'dataProviders/%'),
  descriptor_set bytea NOT NULL CHECK (octet_length(descriptor_set) BETWEEN 1 AND 1048576),
  request_id     text CHECK (length(request_id) BETWEEN 1 AND 255),
  request_hash   bytea CHECK ((request_hash IS NULL) = (request_id IS NULL)),
  version        integer NOT NULL CHECK (version >= 1),
  create_time    timestamptz NOT NULL,
  update_time    timestamptz NOT NULL CHECK (update_time >= create_time)
);
CREATE UNIQUE INDEX descriptors_request_id
  ON event_group_metadata_descriptors (provider, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX descriptors_by_provider ON event_group_metadata_descriptors (provider, create_time, id);
CREATE INDEX descriptors_by_create_time ON event_group_metadata_descriptors (create_time, id);

-- Every step of every measurement and requisition; creation is version 1.
CREATE TABLE transitions (
  measurement text COLLATE "C" NOT NULL REFERENCES measurements,
  -- The requisition's ID, or '' for the measurement itself.
  requisition text COLLATE "C" NOT NULL,
  version     integer NOT NULL,
  from_state  text,
  to_state    text NOT NULL,
  time        timestamptz NOT NULL,
  actor       text NOT NULL,
  cause       text NOT NULL,
  request_id  text NOT NULL,
  -- What the checks found about the request that made this step.
  findings    jsonb,
  seq         bigint GENERATED ALWAYS AS IDENTITY,
  -- For readers that must miss nothing: rows below pg_snapshot_xmin() are all there.
  xid         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (measurement, requisition, version)
);

-- Every mutation that has no transition.
CREATE TABLE audit_entries (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  time       timestamptz NOT NULL,
  principal  text NOT NULL,
  operation  text NOT NULL,
  name       text COLLATE "C" NOT NULL,
  -- The version of the resource that this mutation made.
  version    integer NOT NULL,
  request_id text NOT NULL,
  xid        xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX audit_entries_by_name ON audit_entries (name, version);

CREATE FUNCTION refuse_leaving_terminal_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% % is % and stays so', TG_TABLE_NAME, OLD.id, OLD.state;
END $$;
CREATE TRIGGER terminal_state BEFORE UPDATE ON measurements FOR EACH ROW
  WHEN (OLD.state IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))
  EXECUTE FUNCTION refuse_leaving_terminal_state();
CREATE TRIGGER terminal_state BEFORE UPDATE ON requisitions FOR EACH ROW
  WHEN (OLD.state <> 'UNFULFILLED')
  EXECUTE FUNCTION refuse_leaving_terminal_state();

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transitions
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  EXECUTE FUNCTION refuse_change();

-- A measurement commits with all its requisitions or not at all.
CREATE FUNCTION require_requisitions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  found integer;
BEGIN
  SELECT count(*) INTO found FROM requisitions WHERE measurement = NEW.id;
  IF found <> NEW.requisition_count THEN
    RAISE EXCEPTION 'measurement % has % requisitions, not %', NEW.id, found, NEW.requisition_count;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER requisition_count AFTER INSERT ON measurements
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_requisitions();

-- "Exactly these rows changed", checked inside the statement so that COMMIT can travel with it.
CREATE FUNCTION expect_rows(actual bigint, expected bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF actual <> expected THEN
    RAISE EXCEPTION 'changed % rows, not %', actual, expected USING ERRCODE = '40001';
  END IF;
  RETURN actual;
END $$;
