-- What a requisition waits for, in the words of its provider, and until when.
ALTER TABLE requisitions
  ADD COLUMN deferral_reason text CHECK (length(deferral_reason) BETWEEN 1 AND 1000),
  ADD COLUMN deferral_until  timestamptz,
  ADD CONSTRAINT requisitions_deferral_check CHECK (num_nulls(deferral_reason, deferral_until) IN (0, 2));

-- When a party last called. Written for all parties together now and then, so that a request costs no write; no foreign
-- key, which would lock the rows of the parties.
CREATE TABLE last_seen (
  party text COLLATE "C" PRIMARY KEY,
  time  timestamptz NOT NULL
);
