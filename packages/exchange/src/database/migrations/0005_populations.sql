-- Where data providers and other duchies reach a duchy.
ALTER TABLE parties ADD COLUMN endpoint text CHECK (length(endpoint) <= 1000),
  ADD CHECK (endpoint IS NULL OR name LIKE 'duchies/%');

-- The virtual people that measurements can count across data providers.
CREATE TABLE populations (
  id           text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9_-]{1,63}$'),
  display_name text NOT NULL CHECK (length(display_name) <= 255),
  -- [{"start": 1, "end": 1000}, …], both ends included, disjoint, in ascending order.
  vid_ranges   jsonb NOT NULL CHECK (jsonb_array_length(vid_ranges) BETWEEN 1 AND 1000),
  size         integer NOT NULL CHECK (size BETWEEN 1 AND 2147483646),
  fingerprint  bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  is_default   boolean NOT NULL,
  version      integer NOT NULL CHECK (version >= 1),
  create_time  timestamptz NOT NULL,
  update_time  timestamptz NOT NULL CHECK (update_time >= create_time)
);
CREATE INDEX populations_by_create_time ON populations (create_time, id);
CREATE UNIQUE INDEX populations_default ON populations (is_default) WHERE is_default;

-- A model line belongs to at most one population.
CREATE TABLE population_model_lines (
  model_line text COLLATE "C" PRIMARY KEY CHECK (length(model_line) BETWEEN 1 AND 255),
  population text COLLATE "C" NOT NULL REFERENCES populations,
  -- Position in the request's list, so that reads keep its order.
  ordinal    integer NOT NULL
);
CREATE INDEX population_model_lines_of ON population_model_lines (population, ordinal);

CREATE FUNCTION refuse_other_ranges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ranges of population % never change', OLD.id;
END $$;
CREATE TRIGGER same_ranges BEFORE UPDATE ON populations FOR EACH ROW
  WHEN (ROW(OLD.vid_ranges, OLD.size, OLD.fingerprint) IS DISTINCT FROM ROW(NEW.vid_ranges, NEW.size, NEW.fingerprint))
  EXECUTE FUNCTION refuse_other_ranges();

-- What the parties of a multi-party protocol agree on: which duchy has which role, the noise, the ring, the population.
ALTER TABLE measurements ADD COLUMN protocol_config jsonb
  CHECK ((protocol_config IS NOT NULL) = (protocol = 'honestMajorityShareShuffle'));
