-- Parties, principals, certificates and event groups as resources of the API; roots; retention.

ALTER TABLE parties
  ADD COLUMN public_key_algorithm text,
  ADD COLUMN availability_start   timestamptz,
  ADD COLUMN availability_end     timestamptz CHECK (availability_end > availability_start),
  ADD COLUMN version              integer NOT NULL DEFAULT 1 CHECK (version >= 1);

-- The kind of a party is what its name begins with: lists go by it.
CREATE INDEX parties_by_create_time ON parties (split_part(name, '/', 1), create_time, name);

ALTER TABLE principals ADD COLUMN id text COLLATE "C" NOT NULL CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$');
CREATE UNIQUE INDEX principals_id ON principals (id);
CREATE INDEX principals_by_create_time ON principals (create_time, id);
CREATE INDEX principals_by_resource ON principals (resource, create_time, id);

-- In the order of transactions: a reader below pg_snapshot_xmin() misses none.
CREATE INDEX audit_entries_by_transaction ON audit_entries (xid, seq);

ALTER TABLE certificates ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version >= 1);
CREATE INDEX certificates_by_create_time ON certificates (party, create_time, id);
CREATE INDEX certificates_by_key ON certificates (subject_key_identifier, party);
CREATE INDEX certificates_by_expiry ON certificates (not_after) WHERE revocation_state IS NULL;

-- A certificate that was revoked or put on hold, as long as measurements that rest on it are still to be failed.
CREATE TABLE revocation_cascades (
  party            text COLLATE "C" NOT NULL,
  certificate      text COLLATE "C" NOT NULL,
  revocation_state text NOT NULL CHECK (revocation_state IN ('HOLD', 'REVOKED')),
  time             timestamptz NOT NULL,
  actor            text NOT NULL,
  request_id       text NOT NULL,
  -- Pending measurements up to this one are done: none comes to rest on the certificate any more.
  done_time        timestamptz NOT NULL DEFAULT '-infinity',
  done_id          text COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (party, certificate),
  FOREIGN KEY (party, certificate) REFERENCES certificates (party, id)
);
-- The measurements that a revocation or the retention may still end: few, whatever the table's length.
CREATE INDEX measurements_pending ON measurements (create_time, id)
  WHERE state IN ('AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING');
CREATE INDEX measurements_terminal ON measurements (update_time, id)
  WHERE state IN ('SUCCEEDED', 'FAILED', 'CANCELLED');

-- Roots the operator trusts; for one party, or for any where party is null.
CREATE TABLE trusted_roots (
  id                     text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  party                  text COLLATE "C" REFERENCES parties,
  x509_der               bytea NOT NULL,
  subject_key_identifier bytea NOT NULL,
  not_before             timestamptz NOT NULL,
  not_after              timestamptz NOT NULL,
  create_time            timestamptz NOT NULL
);
CREATE UNIQUE INDEX trusted_roots_der ON trusted_roots (sha256(x509_der), coalesce(party, ''));
CREATE INDEX trusted_roots_by_create_time ON trusted_roots (create_time, id);
CREATE INDEX trusted_roots_by_party ON trusted_roots (party);

-- Message types a descriptor defines, well-known ones left out.
CREATE TABLE descriptor_types (
  descriptor text COLLATE "C" NOT NULL REFERENCES event_group_metadata_descriptors,
  type_name  text COLLATE "C" NOT NULL,
  -- The descriptor's: an industry schema has thousands of descriptors, of which a provider looks for its own.
  provider   text COLLATE "C" NOT NULL,
  PRIMARY KEY (descriptor, type_name)
);
CREATE INDEX descriptor_types_by_name ON descriptor_types (type_name, provider, descriptor);

CREATE TABLE event_groups (
  id                  text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  provider            text COLLATE "C" NOT NULL REFERENCES parties CHECK (provider LIKE 'dataProviders/%'),
  consumer            text COLLATE "C" NOT NULL REFERENCES parties CHECK (consumer LIKE 'measurementConsumers/%'),
  reference_id        text CHECK (length(reference_id) <= 255),
  media_types         text[] NOT NULL DEFAULT '{}',
  availability_start  timestamptz,
  availability_end    timestamptz CHECK (availability_end > availability_start),
  brand_name          text CHECK (length(brand_name) <= 1000),
  campaign_name       text CHECK (length(campaign_name) <= 1000),
  -- Opaque metadata …
  metadata_ciphertext bytea,
  metadata_cipher_url text,
  -- … or readable metadata, which matches its descriptor.
  descriptor          text COLLATE "C" REFERENCES event_group_metadata_descriptors,
  metadata_type_url   text,
  metadata_value      bytea,
  -- Characters of the message as JSON, for the length of pages.
  metadata_size       integer,
  key_type            text,
  key_data            bytea,
  key_format          text,
  state               text NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
  request_id          text CHECK (length(request_id) BETWEEN 1 AND 255),
  request_hash        bytea CHECK ((request_hash IS NULL) = (request_id IS NULL)),
  version             integer NOT NULL CHECK (version >= 1),
  create_time         timestamptz NOT NULL,
  update_time         timestamptz NOT NULL CHECK (update_time >= create_time),
  search              tsvector GENERATED ALWAYS AS
                      (to_tsvector('simple', coalesce(brand_name, '') || ' ' || coalesce(campaign_name, ''))) STORED,
  CHECK (metadata_ciphertext IS NULL OR descriptor IS NULL),
  CHECK (num_nulls(metadata_ciphertext, metadata_cipher_url) IN (0, 2)),
  CHECK (num_nulls(descriptor, metadata_type_url, metadata_value, metadata_size) IN (0, 4)),
  CHECK (metadata_ciphertext IS NULL OR key_data IS NOT NULL),
  CHECK (availability_end IS NULL OR availability_start IS NOT NULL),
  CHECK (state = 'ACTIVE' OR coalesce(metadata_ciphertext, metadata_value, key_data) IS NULL)
);
CREATE UNIQUE INDEX event_groups_request_id ON event_groups (provider, request_id) WHERE request_id IS NOT NULL;
-- One index probe per state and page, and per party of the other side where a filter names some.
CREATE INDEX event_groups_by_provider ON event_groups (provider, state, create_time, id);
CREATE INDEX event_groups_by_consumer ON event_groups (consumer, state, create_time, id);
CREATE INDEX event_groups_by_parties ON event_groups (provider, consumer, state, create_time, id);
-- In the order of availability; groups that do not say when come first.
CREATE INDEX event_groups_by_provider_start
  ON event_groups (provider, state, (coalesce(availability_start, '-infinity')), id);
CREATE INDEX event_groups_by_consumer_start
  ON event_groups (consumer, state, (coalesce(availability_start, '-infinity')), id);
CREATE INDEX event_groups_by_descriptor ON event_groups (descriptor) WHERE descriptor IS NOT NULL;
-- Words within one party: a search costs what that party has of them. Without the pending list, which every search
-- would read.
CREATE INDEX event_groups_by_search ON event_groups USING gin ((ARRAY[provider, consumer]), search)
  WITH (fastupdate = off);

-- What is left of a measurement and its requisitions when the retention has removed them.
CREATE TABLE measurement_tombstones (
  id           text COLLATE "C" PRIMARY KEY,
  consumer     text COLLATE "C" NOT NULL,
  state        text NOT NULL,
  request_id   text,
  request_hash bytea,
  create_time  timestamptz NOT NULL,
  update_time  timestamptz NOT NULL,
  delete_time  timestamptz NOT NULL
);
CREATE UNIQUE INDEX measurement_tombstones_request_id
  ON measurement_tombstones (consumer, request_id) WHERE request_id IS NOT NULL;
CREATE TABLE requisition_tombstones (
  id          text COLLATE "C" PRIMARY KEY,
  provider    text COLLATE "C" NOT NULL,
  measurement text COLLATE "C" NOT NULL REFERENCES measurement_tombstones,
  state       text NOT NULL,
  create_time timestamptz NOT NULL,
  update_time timestamptz NOT NULL
);
CREATE INDEX requisition_tombstones_of_measurement ON requisition_tombstones (measurement);

-- The log of a removed measurement goes with it; the serving role cannot delete, only this function can.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'transitions' AND TG_OP = 'DELETE' AND current_setting('mex.removing', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

-- Terminal measurements among these, replaced by their tombstones. Returns how many.
CREATE FUNCTION remove_measurements(ids text[], now timestamptz) RETURNS integer
  -- pg_temp last: where it is not named it comes first, and a table of the caller's would take the place of ours.
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
  DELETE FROM requisitions WHERE measurement = ANY(terminal);
  DELETE FROM measurements WHERE id = ANY(terminal);
  RETURN cardinality(terminal);
END $$;
REVOKE ALL ON FUNCTION remove_measurements(text[], timestamptz) FROM PUBLIC;
