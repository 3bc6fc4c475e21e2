-- The schema after all migrations. A test prints it from a migrated database and compares:
-- npx vitest run <schema.test.ts of this package> --update writes it anew.

CREATE TABLE blob_chunks (
  blob uuid NOT NULL,
  ordinal integer NOT NULL,
  data bytea NOT NULL,
  CONSTRAINT blob_chunks_blob_fkey FOREIGN KEY (blob) REFERENCES blobs(id) ON DELETE CASCADE,
  CONSTRAINT blob_chunks_data_check CHECK ((octet_length(data) <= (1048576 + 28))),
  CONSTRAINT blob_chunks_ordinal_check CHECK ((ordinal >= 0)),
  CONSTRAINT blob_chunks_pkey PRIMARY KEY (blob, ordinal)
);

CREATE TABLE blobs (
  id uuid NOT NULL,
  computation text COLLATE "C" NOT NULL,
  length bigint,
  sha256 bytea,
  complete_time timestamp with time zone,
  removed_time timestamp with time zone,
  create_time timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT blobs_check CHECK (((complete_time IS NULL) OR ((length IS NOT NULL) AND (sha256 IS NOT NULL)))),
  CONSTRAINT blobs_computation_fkey FOREIGN KEY (computation) REFERENCES computations(id),
  CONSTRAINT blobs_length_check CHECK ((length >= 0)),
  CONSTRAINT blobs_pkey PRIMARY KEY (id),
  CONSTRAINT blobs_sha256_check CHECK ((octet_length(sha256) = 32))
);

CREATE TABLE computations (
  id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  protocol text NOT NULL,
  stage text NOT NULL,
  view jsonb NOT NULL,
  spec bytea NOT NULL,
  register_count bigint NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  run_after timestamp with time zone,
  lease_token uuid,
  lease_until timestamp with time zone,
  lease_owner text,
  last_error text,
  random_seed bytea,
  noise_seed bytea,
  private_keyset bytea,
  outcome text,
  failure text,
  create_time timestamp with time zone NOT NULL DEFAULT now(),
  update_time timestamp with time zone NOT NULL DEFAULT now(),
  interim bytea,
  blob_key bytea,
  consumer text COLLATE "C" GENERATED ALWAYS AS ((view ->> 'measurementConsumer'::text)) STORED,
  taken_time timestamp with time zone,
  CONSTRAINT computations_check CHECK ((((lease_token IS NULL) = (lease_until IS NULL)) AND ((lease_token IS NULL) = (lease_owner IS NULL)))),
  CONSTRAINT computations_check1 CHECK (((outcome IS NULL) OR ((run_after IS NULL) AND (lease_token IS NULL) AND (random_seed IS NULL) AND (noise_seed IS NULL) AND (private_keyset IS NULL)))),
  CONSTRAINT computations_check2 CHECK (((failure IS NULL) OR (outcome IS NOT NULL))),
  CONSTRAINT computations_check3 CHECK (((outcome IS NULL) OR (interim IS NULL))),
  CONSTRAINT computations_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT computations_outcome_check CHECK ((outcome = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT computations_pkey PRIMARY KEY (id),
  CONSTRAINT computations_register_count_check CHECK ((register_count > 0))
);

CREATE TABLE messages (
  computation text COLLATE "C" NOT NULL,
  stage text NOT NULL,
  direction text NOT NULL,
  peer text COLLATE "C" NOT NULL,
  certificate text COLLATE "C" NOT NULL,
  signed_message bytea,
  blob uuid NOT NULL,
  create_time timestamp with time zone NOT NULL DEFAULT now(),
  acknowledged_time timestamp with time zone,
  CONSTRAINT messages_blob_fkey FOREIGN KEY (blob) REFERENCES blobs(id),
  CONSTRAINT messages_blob_key UNIQUE (blob),
  CONSTRAINT messages_check CHECK (((signed_message IS NOT NULL) OR (peer = 'exchange'::text))),
  CONSTRAINT messages_computation_fkey FOREIGN KEY (computation) REFERENCES computations(id),
  CONSTRAINT messages_direction_check CHECK ((direction = ANY (ARRAY['IN'::text, 'OUT'::text]))),
  CONSTRAINT messages_pkey PRIMARY KEY (computation, stage, direction, peer)
);

CREATE TABLE removed_computations (
  id text COLLATE "C" NOT NULL,
  removed_time timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT removed_computations_pkey PRIMARY KEY (id)
);

CREATE TABLE requisitions (
  name text COLLATE "C" NOT NULL,
  computation text COLLATE "C" NOT NULL,
  CONSTRAINT requisitions_computation_fkey FOREIGN KEY (computation) REFERENCES computations(id),
  CONSTRAINT requisitions_pkey PRIMARY KEY (name)
);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE settings (
  key text NOT NULL,
  value text NOT NULL,
  CONSTRAINT settings_pkey PRIMARY KEY (key)
);

CREATE TABLE uploads (
  requisition text COLLATE "C" NOT NULL,
  computation text COLLATE "C" NOT NULL,
  data_provider text COLLATE "C" NOT NULL,
  certificate text COLLATE "C" NOT NULL,
  nonce numeric(20,0) NOT NULL,
  register_count bigint NOT NULL,
  secret_seed bytea NOT NULL,
  signed_fulfillment bytea NOT NULL,
  blob uuid NOT NULL,
  create_time timestamp with time zone NOT NULL DEFAULT now(),
  reported_time timestamp with time zone,
  CONSTRAINT uploads_blob_fkey FOREIGN KEY (blob) REFERENCES blobs(id),
  CONSTRAINT uploads_blob_key UNIQUE (blob),
  CONSTRAINT uploads_computation_fkey FOREIGN KEY (computation) REFERENCES computations(id),
  CONSTRAINT uploads_pkey PRIMARY KEY (requisition),
  CONSTRAINT uploads_requisition_fkey FOREIGN KEY (requisition) REFERENCES requisitions(name)
);

CREATE INDEX blobs_incomplete ON blobs USING btree (create_time) WHERE (complete_time IS NULL);
CREATE INDEX blobs_kept ON blobs USING btree (computation) WHERE ((complete_time IS NOT NULL) AND (removed_time IS NULL));
CREATE INDEX blobs_of ON blobs USING btree (computation);
CREATE INDEX computations_ended ON computations USING btree (update_time) WHERE (outcome IS NOT NULL);
CREATE INDEX computations_keys_kept ON computations USING btree (update_time) WHERE ((outcome IS NOT NULL) AND (blob_key IS NOT NULL));
CREATE INDEX computations_pending ON computations USING btree (id) WHERE (outcome IS NULL);
CREATE INDEX computations_to_run ON computations USING btree (run_after, create_time, id) WHERE (run_after IS NOT NULL);
CREATE INDEX computations_turns ON computations USING btree (consumer, taken_time DESC) WHERE (taken_time IS NOT NULL);
CREATE INDEX requisitions_of ON requisitions USING btree (computation);
CREATE INDEX uploads_of ON uploads USING btree (computation);
CREATE INDEX uploads_unreported ON uploads USING btree (create_time) WHERE (reported_time IS NULL);

CREATE TRIGGER keep_complete BEFORE DELETE OR UPDATE ON blobs FOR EACH ROW EXECUTE FUNCTION keep_complete();
CREATE TRIGGER keep_computation BEFORE UPDATE ON computations FOR EACH ROW EXECUTE FUNCTION keep_computation();
CREATE TRIGGER keep_pending BEFORE DELETE ON computations FOR EACH ROW EXECUTE FUNCTION keep_pending();
CREATE TRIGGER keep_stored BEFORE DELETE OR UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION keep_stored('acknowledged_time');
CREATE TRIGGER keep_stored BEFORE DELETE OR UPDATE ON uploads FOR EACH ROW EXECUTE FUNCTION keep_stored('reported_time');

CREATE OR REPLACE FUNCTION keep_complete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.complete_time IS NOT NULL THEN PERFORM require_ended(OLD.computation); END IF;
    RETURN OLD;
  END IF;
  IF OLD.complete_time IS NOT NULL AND
     (NEW.id, NEW.computation, NEW.length, NEW.sha256, NEW.complete_time)
     IS DISTINCT FROM (OLD.id, OLD.computation, OLD.length, OLD.sha256, OLD.complete_time) THEN
    RAISE EXCEPTION 'blob % is complete', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION keep_computation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.outcome IS NOT NULL THEN
    -- A generated column has no value yet.
    IF NEW.blob_key IS NULL
       AND to_jsonb(NEW) - '{blob_key,consumer}'::text[] = to_jsonb(OLD) - '{blob_key,consumer}'::text[] THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'computation % has ended', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF (NEW.id, NEW.role, NEW.protocol, NEW.spec, NEW.register_count, NEW.create_time)
     IS DISTINCT FROM (OLD.id, OLD.role, OLD.protocol, OLD.spec, OLD.register_count, OLD.create_time) THEN
    RAISE EXCEPTION 'what computation % is never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.outcome IS NULL AND (
       (OLD.random_seed IS NOT NULL AND NEW.random_seed IS DISTINCT FROM OLD.random_seed) OR
       (OLD.noise_seed IS NOT NULL AND NEW.noise_seed IS DISTINCT FROM OLD.noise_seed) OR
       (OLD.private_keyset IS NOT NULL AND NEW.private_keyset IS DISTINCT FROM OLD.private_keyset) OR
       NEW.blob_key IS DISTINCT FROM OLD.blob_key) THEN
    RAISE EXCEPTION 'a secret of computation % is written once', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  NEW.update_time := clock_timestamp();
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION keep_pending()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM require_ended(OLD.id);
  RETURN OLD;
END $function$;

CREATE OR REPLACE FUNCTION keep_stored()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM require_ended(OLD.computation);
    RETURN OLD;
  END IF;
  IF to_jsonb(NEW) - TG_ARGV[0] IS DISTINCT FROM to_jsonb(OLD) - TG_ARGV[0]
     OR (to_jsonb(OLD) -> TG_ARGV[0] <> 'null'::jsonb
         AND to_jsonb(NEW) -> TG_ARGV[0] IS DISTINCT FROM to_jsonb(OLD) -> TG_ARGV[0]) THEN
    RAISE EXCEPTION 'what is stored in % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION require_ended(computation text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM computations c WHERE c.id = computation AND c.outcome IS NULL) THEN
    RAISE EXCEPTION 'computation % is pending: what is stored of it stays', computation
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $function$;
