-- Multi-party computations: where duchies compute, a measurement has one result, and its requisitions have none.

ALTER TABLE measurements
  ADD COLUMN result_duchy       text COLLATE "C",
  ADD COLUMN result_certificate text COLLATE "C",
  ADD COLUMN result_ciphertext  bytea,
  ADD COLUMN result_type_url    text,
  ADD CONSTRAINT measurements_result_check CHECK (
    num_nulls(result_duchy, result_certificate, result_ciphertext, result_type_url)
      = CASE WHEN state = 'SUCCEEDED' AND protocol <> 'direct' THEN 0 ELSE 4 END),
  ADD FOREIGN KEY (result_duchy, result_certificate) REFERENCES certificates (party, id);

-- Three of them, which PostgreSQL named: a result is there exactly in FULFILLED.
DO $$
DECLARE
  named record;
BEGIN
  FOR named IN SELECT conname FROM pg_constraint
    WHERE conrelid = 'requisitions'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%result\_%'
  LOOP
    EXECUTE format('ALTER TABLE requisitions DROP CONSTRAINT %I', named.conname);
  END LOOP;
END $$;
ALTER TABLE requisitions
  -- The duchy that takes the provider's data; null for a direct measurement.
  ADD COLUMN fulfilling_duchy text COLLATE "C" CHECK (fulfilling_duchy LIKE 'duchies/%'),
  ADD CONSTRAINT requisitions_result_check CHECK (
    num_nulls(result_certificate, result_ciphertext, result_type_url)
      = CASE WHEN state = 'FULFILLED' AND fulfilling_duchy IS NULL THEN 0 ELSE 3 END);

-- A duchy's view of a measurement; the ID is the measurement's, for each of the duchies that take part.
CREATE TABLE computations (
  id                text COLLATE "C" NOT NULL REFERENCES measurements,
  duchy             text COLLATE "C" NOT NULL REFERENCES parties CHECK (duchy LIKE 'duchies/%'),
  role              text NOT NULL CHECK (role IN ('FIRST_WORKER', 'SECOND_WORKER', 'AGGREGATOR')),
  -- Of the computation, the same in the rows of all participants: what the measurement and its participants make it.
  state             text NOT NULL CHECK (state IN ('PENDING_PARAMS', 'PENDING_FULFILLMENT', 'PENDING_CONFIRMATION',
                    'COMPUTING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  -- Of this participant, with its version in the log of transitions, where it stands in place of a requisition.
  participant_state text NOT NULL CHECK (participant_state IN ('CREATED', 'PARAMS_SET', 'READY', 'FAILED')),
  version           integer NOT NULL CHECK (version >= 1),
  -- What the duchy contributed: its certificate, and a signed EncryptionPublicKey.
  certificate       text COLLATE "C",
  key_message       bytea CHECK (octet_length(key_message) BETWEEN 1 AND 1024),
  key_signature     bytea CHECK (octet_length(key_signature) BETWEEN 1 AND 1024),
  key_algorithm     text,
  create_time       timestamptz NOT NULL,
  -- Of the computation, the same in the rows of all participants.
  update_time       timestamptz NOT NULL CHECK (update_time >= create_time),
  PRIMARY KEY (id, duchy),
  UNIQUE (id, role),
  FOREIGN KEY (duchy, certificate) REFERENCES certificates (party, id),
  CHECK (num_nulls(key_message, key_signature) IN (0, 2)),
  CHECK (certificate IS NOT NULL OR key_message IS NULL),
  CHECK (role = 'AGGREGATOR' OR certificate IS NULL OR key_message IS NOT NULL),
  CHECK (participant_state = 'FAILED' OR (certificate IS NULL) = (participant_state = 'CREATED')),
  CHECK (certificate IS NOT NULL OR state IN ('PENDING_PARAMS', 'FAILED', 'CANCELLED'))
);
CREATE INDEX computations_by_update_time ON computations (duchy, state, update_time, id);
-- Those that a deadline may end.
CREATE INDEX computations_pending_parameters ON computations (create_time, id)
  WHERE state = 'PENDING_PARAMS' AND role = 'AGGREGATOR';
CREATE INDEX computations_computing ON computations (update_time, id)
  WHERE state = 'COMPUTING' AND role = 'AGGREGATOR';

CREATE TRIGGER terminal_state BEFORE UPDATE ON computations FOR EACH ROW
  WHEN (OLD.state IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))
  EXECUTE FUNCTION refuse_leaving_terminal_state();

-- The latest reports of the duchies' progress, for the consumer.
CREATE TABLE computation_log (
  computation text COLLATE "C" NOT NULL,
  duchy       text COLLATE "C" NOT NULL,
  -- Counts the reports of one duchy; the oldest are deleted.
  n           integer NOT NULL CHECK (n >= 1),
  time        timestamptz NOT NULL,
  stage       text NOT NULL CHECK (length(stage) BETWEEN 1 AND 100),
  attempt     integer NOT NULL CHECK (attempt >= 1),
  message     text NOT NULL CHECK (length(message) BETWEEN 1 AND 1000),
  progress    double precision CHECK (progress BETWEEN 0 AND 1),
  PRIMARY KEY (computation, duchy, n),
  FOREIGN KEY (computation, duchy) REFERENCES computations (id, duchy)
);

CREATE OR REPLACE FUNCTION remove_measurements(ids text[], now timestamptz) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  terminal text[];
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO terminal FROM (
    SELECT id FROM measurements WHERE id = ANY(ids) AND state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
     ORDER BY id FOR UPDATE SKIP LOCKED) locked;
  INSERT INTO measurement_tombstones
    SELECT id, consumer, state, request_id, request_hash, create_time, update_time, now
      FROM measurements WHERE id = ANY(terminal);
  INSERT INTO requisition_tombstones
    SELECT id, provider, measurement, state, create_time, update_time
      FROM requisitions WHERE measurement = ANY(terminal);
  PERFORM set_config('mex.removing', 'on', true);
  DELETE FROM transitions WHERE measurement = ANY(terminal);
  PERFORM set_config('mex.removing', 'off', true);
  DELETE FROM computation_log WHERE computation = ANY(terminal);
  DELETE FROM computations WHERE id = ANY(terminal);
  DELETE FROM requisitions WHERE measurement = ANY(terminal);
  DELETE FROM measurements WHERE id = ANY(terminal);
  RETURN cardinality(terminal);
END $$;
