-- Questions of consumers that several measurements answer. The exchange cannot read the sealed parts.
CREATE TABLE reports (
  consumer text COLLATE "C" NOT NULL REFERENCES parties (name),
  id text COLLATE "C" NOT NULL CHECK (length(id) BETWEEN 1 AND 63 AND id !~ '[^A-Za-z0-9_-]'),
  title text CHECK (length(title) <= 256),
  definition text CHECK (octet_length(definition) BETWEEN 1 AND 65536),
  definition_ciphertext bytea CHECK (octet_length(definition_ciphertext) BETWEEN 1 AND 65536),
  definition_type_url text CHECK (length(definition_type_url) BETWEEN 1 AND 512),
  definition_hash bytea CHECK (octet_length(definition_hash) = 32),
  answer_ciphertext bytea CHECK (octet_length(answer_ciphertext) BETWEEN 1 AND 1048576),
  answer_type_url text CHECK (length(answer_type_url) BETWEEN 1 AND 512),
  measurement_count integer NOT NULL CHECK (measurement_count BETWEEN 0 AND 5000),
  -- A deleted report has no content. Its row stays, so that its ID is not used again.
  state text NOT NULL CHECK (state IN ('PLANNED', 'RUNNING', 'COMPLETE', 'INCOMPLETE', 'DELETED')),
  -- A measurement after whose end the state must be derived again. A RUNNING report always waits for one.
  waiting_for text COLLATE "C",
  -- Counts updates, and decides the etag. The version also counts changes of the state.
  revision integer NOT NULL CHECK (revision >= 1),
  version integer NOT NULL CHECK (version >= 1),
  request_id text CHECK (length(request_id) BETWEEN 1 AND 255),
  request_hash bytea,
  create_time timestamptz NOT NULL,
  update_time timestamptz NOT NULL,
  PRIMARY KEY (consumer, id),
  CHECK ((request_hash IS NULL) = (request_id IS NULL)),
  CHECK (update_time >= create_time),
  CHECK (state <> 'RUNNING' OR waiting_for IS NOT NULL),
  CHECK ((definition_ciphertext IS NULL) = (definition_type_url IS NULL)),
  CHECK ((answer_ciphertext IS NULL) = (answer_type_url IS NULL)),
  CHECK (num_nonnulls(definition, definition_ciphertext) = CASE state WHEN 'DELETED' THEN 0 ELSE 1 END),
  CHECK ((definition_hash IS NULL) = (state = 'DELETED'))
);
ALTER TABLE reports
  ALTER COLUMN definition_ciphertext SET STORAGE EXTERNAL,
  ALTER COLUMN answer_ciphertext SET STORAGE EXTERNAL;
CREATE INDEX reports_by_create_time ON reports (consumer, state, create_time, id);
CREATE UNIQUE INDEX reports_request_id ON reports (consumer, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX reports_waiting ON reports (consumer, id) WHERE waiting_for IS NOT NULL;

-- The measurements of reports, in the order in which they were appended. Retention may remove a measurement.
CREATE TABLE report_measurements (
  consumer text COLLATE "C" NOT NULL,
  report text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (length(key) = 64),
  n integer NOT NULL CHECK (n BETWEEN 1 AND 5000),
  measurement text COLLATE "C" NOT NULL,
  PRIMARY KEY (consumer, report, key),
  FOREIGN KEY (consumer, report) REFERENCES reports (consumer, id)
);
CREATE INDEX report_measurements_by_measurement ON report_measurements (measurement);

-- Also makes reports wait for a measurement that they lose: their state is then derived again.
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
  UPDATE reports r SET waiting_for = lost.measurement FROM (
    SELECT r.consumer, r.id, e.measurement FROM report_measurements e
      JOIN reports r ON r.consumer = e.consumer AND r.id = e.report
     WHERE e.measurement = ANY(terminal) ORDER BY r.consumer, r.id FOR UPDATE OF r) lost
   WHERE r.consumer = lost.consumer AND r.id = lost.id AND r.state IN ('RUNNING', 'COMPLETE');
  RETURN cardinality(terminal);
END $$;
