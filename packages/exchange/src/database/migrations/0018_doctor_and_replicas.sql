-- The doctor's runs that the exchange makes itself: one row, with the findings of the last run that ended.
CREATE TABLE doctor_run (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- How often a run was requested; each request has an audit entry.
  requests integer NOT NULL DEFAULT 0 CHECK (requests >= 0),
  start_time timestamptz,
  end_time timestamptz,
  checks integer,
  findings jsonb NOT NULL DEFAULT '[]',
  failure text,
  -- Set while a replica runs it.
  lease_expiry timestamptz,
  create_time timestamptz NOT NULL DEFAULT now()
);
INSERT INTO doctor_run DEFAULT VALUES;

-- The processes that serve, and when each of them last said so.
CREATE TABLE replicas (
  id text COLLATE "C" PRIMARY KEY,
  host text NOT NULL,
  version text NOT NULL,
  start_time timestamptz NOT NULL,
  time timestamptz NOT NULL
);
