-- Liquid Legions: a ring of any number of workers and an aggregator, each with a second key, who all confirm before they
-- compute.

-- It was named by PostgreSQL: only share-shuffle had a configuration.
DO $$
DECLARE
  named record;
BEGIN
  FOR named IN SELECT conname FROM pg_constraint
    WHERE conrelid = 'measurements'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%protocol\_config%'
  LOOP
    EXECUTE format('ALTER TABLE measurements DROP CONSTRAINT %I', named.conname);
  END LOOP;
END $$;
ALTER TABLE measurements
  ADD CONSTRAINT measurements_protocol_config_check CHECK ((protocol_config IS NOT NULL) = (protocol <> 'direct'));

ALTER TABLE computations
  DROP CONSTRAINT computations_role_check,
  ADD CONSTRAINT computations_role_check CHECK (role IN ('FIRST_WORKER', 'SECOND_WORKER', 'WORKER', 'AGGREGATOR')),
  DROP CONSTRAINT computations_id_role_key,
  -- A signed ElGamalPublicKey, beside the signed EncryptionPublicKey.
  ADD COLUMN elgamal_message   bytea CHECK (octet_length(elgamal_message) BETWEEN 1 AND 1024),
  ADD COLUMN elgamal_signature bytea CHECK (octet_length(elgamal_signature) BETWEEN 1 AND 1024),
  ADD COLUMN elgamal_algorithm text,
  ADD CONSTRAINT computations_elgamal_check CHECK (num_nulls(elgamal_message, elgamal_signature) IN (0, 2)
    AND (elgamal_message IS NULL OR key_message IS NOT NULL)),
  -- Of a ring, every worker has both keys.
  ADD CONSTRAINT computations_ring_check CHECK (role <> 'WORKER' OR certificate IS NULL OR elgamal_message IS NOT NULL),
  -- Only those who have both keys confirm, and nobody computes before all have.
  ADD CONSTRAINT computations_confirmation_check CHECK (participant_state <> 'PARAMS_SET'
    OR elgamal_message IS NOT NULL AND state NOT IN ('COMPUTING', 'SUCCEEDED'));
-- Of the workers of a ring there may be several.
CREATE UNIQUE INDEX computations_one_of_a_role ON computations (id, role) WHERE role <> 'WORKER';
-- Those that wait for a confirmation, and that a deadline may end.
CREATE INDEX computations_pending_confirmation ON computations (update_time, id)
  WHERE state = 'PENDING_CONFIRMATION' AND role = 'AGGREGATOR';
