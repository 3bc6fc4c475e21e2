-- The trace that a measurement was created in, where it is traced: providers and duchies continue it.
ALTER TABLE measurements ADD COLUMN traceparent text CHECK (length(traceparent) = 55);
