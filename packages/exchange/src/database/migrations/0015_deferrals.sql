-- When the latest deferral of a requisition was accepted; one that replaces another has no step in the log.
ALTER TABLE requisitions ADD COLUMN deferral_time timestamptz;
