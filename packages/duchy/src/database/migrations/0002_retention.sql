-- Ended computations can be removed with all that belongs to them; what belongs to a pending one still cannot.

-- What was removed stays so: whoever is told of it again makes no second key and draws no second noise.
CREATE TABLE removed_computations (
  id           text COLLATE "C" PRIMARY KEY,
  removed_time timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX requisitions_of ON requisitions (computation);
CREATE INDEX blobs_of ON blobs (computation);

CREATE FUNCTION require_ended(computation text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM computations c WHERE c.id = computation AND c.outcome IS NULL) THEN
    RAISE EXCEPTION 'computation % is pending: what is stored of it stays', computation
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $$;

CREATE FUNCTION keep_pending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_ended(OLD.id);
  RETURN OLD;
END $$;
CREATE TRIGGER keep_pending BEFORE DELETE ON computations FOR EACH ROW EXECUTE FUNCTION keep_pending();

CREATE OR REPLACE FUNCTION keep_complete() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE OR REPLACE FUNCTION keep_stored() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

-- Stages are taken in the order in which they became due, so that one which is tried again and again lets others pass.
DROP INDEX computations_to_run;
CREATE INDEX computations_to_run ON computations (run_after, create_time, id) WHERE run_after IS NOT NULL;
UPDATE computations SET run_after = now() WHERE run_after < now();
