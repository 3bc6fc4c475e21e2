-- What one duchy keeps. The tables carry the invariants, so that no process, however old, can undo them:
-- a signed spec, a stored seed and a final outcome never change.

CREATE TABLE settings (
  key   text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE computations (
  -- The last part of the name; all participants know the computation by it.
  id             text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  role           text NOT NULL,
  protocol       text NOT NULL,
  stage          text NOT NULL,
  -- The exchange's computation as it was last read.
  view           jsonb NOT NULL,
  -- The MeasurementSpec whose signature of the measurement consumer was verified.
  spec           bytea NOT NULL,
  -- The length of each share: what the sampling interval of the spec leaves of the population.
  register_count bigint NOT NULL CHECK (register_count > 0),
  -- How often the stage was taken.
  attempt        integer NOT NULL DEFAULT 0,
  -- When a mill may take the stage; NULL while it waits for an upload, a message or the exchange.
  run_after      timestamptz,
  lease_token    uuid,
  lease_until    timestamptz,
  lease_owner    text,
  last_error     text,
  -- Secrets are sealed with the key of the duchy, which is not in the database.
  random_seed    bytea,
  noise_seed     bytea,
  private_keyset bytea,
  outcome        text CHECK (outcome IN ('SUCCEEDED', 'FAILED', 'CANCELLED')),
  failure        text,
  create_time    timestamptz NOT NULL DEFAULT now(),
  update_time    timestamptz NOT NULL DEFAULT now(),
  CHECK ((lease_token IS NULL) = (lease_until IS NULL) AND (lease_token IS NULL) = (lease_owner IS NULL)),
  CHECK (outcome IS NULL OR (run_after IS NULL AND lease_token IS NULL AND random_seed IS NULL
                             AND noise_seed IS NULL AND private_keyset IS NULL)),
  CHECK (failure IS NULL OR outcome IS NOT NULL)
);
CREATE INDEX computations_to_run ON computations (create_time, id) WHERE run_after IS NOT NULL;
CREATE INDEX computations_pending ON computations (id) WHERE outcome IS NULL;
CREATE INDEX computations_ended ON computations (update_time) WHERE outcome IS NOT NULL;

CREATE FUNCTION keep_computation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outcome IS NOT NULL THEN
    RAISE EXCEPTION 'computation % has ended', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (NEW.id, NEW.role, NEW.protocol, NEW.spec, NEW.register_count, NEW.create_time)
     IS DISTINCT FROM (OLD.id, OLD.role, OLD.protocol, OLD.spec, OLD.register_count, OLD.create_time) THEN
    RAISE EXCEPTION 'what computation % is never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.outcome IS NULL AND (
       (OLD.random_seed IS NOT NULL AND NEW.random_seed IS DISTINCT FROM OLD.random_seed) OR
       (OLD.noise_seed IS NOT NULL AND NEW.noise_seed IS DISTINCT FROM OLD.noise_seed) OR
       (OLD.private_keyset IS NOT NULL AND NEW.private_keyset IS DISTINCT FROM OLD.private_keyset)) THEN
    RAISE EXCEPTION 'a secret of computation % is written once', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  NEW.update_time := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER keep_computation BEFORE UPDATE ON computations FOR EACH ROW EXECUTE FUNCTION keep_computation();

-- The computation that an upload is for: the requisitions of a computation are fixed from its creation.
CREATE TABLE requisitions (
  name        text COLLATE "C" PRIMARY KEY,
  computation text COLLATE "C" NOT NULL REFERENCES computations
);

-- Its chunks are written first, in many short transactions; it counts once an upload or a message refers to it,
-- which sets complete_time in the same transaction.
CREATE TABLE blobs (
  id            uuid PRIMARY KEY,
  computation   text COLLATE "C" NOT NULL REFERENCES computations,
  length        bigint CHECK (length >= 0),
  sha256        bytea CHECK (octet_length(sha256) = 32),
  complete_time timestamptz,
  -- When the chunks were removed; length and digest stay.
  removed_time  timestamptz,
  create_time   timestamptz NOT NULL DEFAULT now(),
  CHECK (complete_time IS NULL OR (length IS NOT NULL AND sha256 IS NOT NULL))
);
CREATE INDEX blobs_incomplete ON blobs (create_time) WHERE complete_time IS NULL;
CREATE INDEX blobs_kept ON blobs (computation) WHERE complete_time IS NOT NULL AND removed_time IS NULL;

-- Sealed, so 28 bytes longer than what they hold.
CREATE TABLE blob_chunks (
  blob    uuid NOT NULL REFERENCES blobs ON DELETE CASCADE,
  ordinal integer NOT NULL CHECK (ordinal >= 0),
  data    bytea NOT NULL CHECK (octet_length(data) <= 1048576 + 28),
  PRIMARY KEY (blob, ordinal)
);
-- A ciphertext does not compress.
ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE FUNCTION keep_complete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.complete_time IS NOT NULL AND
     (TG_OP = 'DELETE' OR (NEW.id, NEW.computation, NEW.length, NEW.sha256, NEW.complete_time)
                          IS DISTINCT FROM (OLD.id, OLD.computation, OLD.length, OLD.sha256, OLD.complete_time)) THEN
    RAISE EXCEPTION 'blob % is complete', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER keep_complete BEFORE UPDATE OR DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION keep_complete();

CREATE TABLE uploads (
  requisition        text COLLATE "C" PRIMARY KEY REFERENCES requisitions,
  computation        text COLLATE "C" NOT NULL REFERENCES computations,
  data_provider      text COLLATE "C" NOT NULL,
  certificate        text COLLATE "C" NOT NULL,
  nonce              numeric(20) NOT NULL,
  register_count     bigint NOT NULL,
  -- The ciphertext of the seed, for the worker that did not take the upload.
  secret_seed        bytea NOT NULL,
  -- A serialized SignedMessage of a Fulfillment.
  signed_fulfillment bytea NOT NULL,
  blob               uuid NOT NULL UNIQUE REFERENCES blobs,
  create_time        timestamptz NOT NULL DEFAULT now(),
  -- When the exchange knew of it.
  reported_time      timestamptz
);
CREATE INDEX uploads_of ON uploads (computation);
CREATE INDEX uploads_unreported ON uploads (create_time) WHERE reported_time IS NULL;

CREATE TABLE messages (
  computation       text COLLATE "C" NOT NULL REFERENCES computations,
  -- As the protocol names its messages.
  stage             text NOT NULL,
  direction         text NOT NULL CHECK (direction IN ('IN', 'OUT')),
  -- Who sent it, or whom it is for: a duchy, or 'exchange'.
  peer              text COLLATE "C" NOT NULL,
  certificate       text COLLATE "C" NOT NULL,
  -- A serialized SignedMessage of a StageMessage; NULL for the exchange, which takes none.
  signed_message    bytea CHECK (signed_message IS NOT NULL OR peer = 'exchange'),
  blob              uuid NOT NULL UNIQUE REFERENCES blobs,
  create_time       timestamptz NOT NULL DEFAULT now(),
  acknowledged_time timestamptz,
  PRIMARY KEY (computation, stage, direction, peer)
);

-- Only the last column of an upload or a message is ever set later, and once.
CREATE FUNCTION keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE'
     OR to_jsonb(NEW) - TG_ARGV[0] IS DISTINCT FROM to_jsonb(OLD) - TG_ARGV[0]
     OR (to_jsonb(OLD) -> TG_ARGV[0] <> 'null'::jsonb
         AND to_jsonb(NEW) -> TG_ARGV[0] IS DISTINCT FROM to_jsonb(OLD) -> TG_ARGV[0]) THEN
    RAISE EXCEPTION 'what is stored in % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_stored BEFORE UPDATE OR DELETE ON uploads
  FOR EACH ROW EXECUTE FUNCTION keep_stored('reported_time');
CREATE TRIGGER keep_stored BEFORE UPDATE OR DELETE ON messages
  FOR EACH ROW EXECUTE FUNCTION keep_stored('acknowledged_time');
