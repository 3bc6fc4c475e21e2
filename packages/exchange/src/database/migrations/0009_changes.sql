-- The log that parties follow: one row for each party that sees a change, written by the transaction that makes it.

CREATE TABLE changes (
  -- No foreign key: it would lock the row of a busy party at every write.
  party   text COLLATE "C" NOT NULL,
  -- In the order of transactions: a reader below pg_snapshot_xmin() misses none.
  xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq     bigint GENERATED ALWAYS AS IDENTITY,
  -- The resource, by the name that the party reads it under.
  name    text COLLATE "C" NOT NULL,
  kind    text NOT NULL CHECK (kind IN ('MEASUREMENT', 'REQUISITION', 'COMPUTATION', 'EVENT_GROUP', 'DESCRIPTOR',
          'CERTIFICATE', 'PARTY')),
  -- Null for what has no state.
  state   text,
  version integer NOT NULL CHECK (version >= 1),
  time    timestamptz NOT NULL,
  PRIMARY KEY (party, xid, seq)
);

-- Up to where the log of a party was removed.
CREATE TABLE changes_removed (
  party text COLLATE "C" PRIMARY KEY,
  xid   xid8 NOT NULL,
  seq   bigint NOT NULL
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON changes
  EXECUTE FUNCTION refuse_change();

-- The serving role cannot delete from a log; only functions of the owner can.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME IN ('transitions', 'changes') AND TG_OP = 'DELETE'
     AND current_setting('mex.removing', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

-- Of the oldest rows of a party those from before the time, as many as `batch`. Returns how many.
CREATE FUNCTION remove_changes(of_party text, before timestamptz, batch integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  upto record;
  removed integer;
BEGIN
  SELECT xid, seq INTO upto FROM (
    SELECT xid, seq, time FROM changes
     WHERE party = of_party AND xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY xid, seq LIMIT batch) oldest
   WHERE time < before ORDER BY xid DESC, seq DESC LIMIT 1;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  INSERT INTO changes_removed AS r VALUES (of_party, upto.xid, upto.seq)
    ON CONFLICT (party) DO UPDATE SET xid = excluded.xid, seq = excluded.seq
    WHERE (r.xid, r.seq) < (excluded.xid, excluded.seq);
  PERFORM set_config('mex.removing', 'on', true);
  DELETE FROM changes WHERE party = of_party AND (xid, seq) <= (upto.xid, upto.seq);
  GET DIAGNOSTICS removed = ROW_COUNT;
  PERFORM set_config('mex.removing', 'off', true);
  RETURN removed;
END $$;
REVOKE ALL ON FUNCTION remove_changes(text, timestamptz, integer) FROM PUBLIC;
