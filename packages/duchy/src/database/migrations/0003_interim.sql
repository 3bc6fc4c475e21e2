-- What a stage leaves for a later stage of this duchy, sealed: it goes when the computation ends.
ALTER TABLE computations
  ADD COLUMN interim bytea,
  ADD CHECK (outcome IS NULL OR interim IS NULL);
