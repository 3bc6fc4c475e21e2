-- Each computation has a key of its own for its blobs, sealed with the key of the duchy: without it no copy of a chunk
-- opens, wherever the copy is. The key goes with the outcome, or with the blobs where they are kept for a while.
-- Computations that began before this migration have none; their blobs are sealed with the key of the duchy.
ALTER TABLE computations
  ADD COLUMN blob_key bytea,
  -- Mills take the stages of consumers in turn.
  ADD COLUMN consumer text COLLATE "C" GENERATED ALWAYS AS (view->>'measurementConsumer') STORED,
  -- When a mill last took a stage of it.
  ADD COLUMN taken_time timestamptz;

CREATE INDEX computations_turns ON computations (consumer, taken_time DESC) WHERE taken_time IS NOT NULL;
CREATE INDEX computations_keys_kept ON computations (update_time) WHERE outcome IS NOT NULL AND blob_key IS NOT NULL;

CREATE OR REPLACE FUNCTION keep_computation() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
