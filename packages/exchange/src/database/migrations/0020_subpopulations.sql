-- [{"attributes": [{"name": "age", "value": "18-34"}], "vidRanges": [{"start": 1, "end": 1000}]}, …], which share no VID.
ALTER TABLE populations ADD COLUMN subpopulations jsonb NOT NULL DEFAULT '[]'
  CHECK (jsonb_array_length(subpopulations) <= 1000);

DROP TRIGGER same_ranges ON populations;
CREATE TRIGGER same_ranges BEFORE UPDATE ON populations FOR EACH ROW
  WHEN (ROW(OLD.vid_ranges, OLD.size, OLD.fingerprint, OLD.subpopulations)
    IS DISTINCT FROM ROW(NEW.vid_ranges, NEW.size, NEW.fingerprint, NEW.subpopulations))
  EXECUTE FUNCTION refuse_other_ranges();
