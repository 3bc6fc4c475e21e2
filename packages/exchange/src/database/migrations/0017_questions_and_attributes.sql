-- The question as the consumer asked it, encrypted for the consumer: PostgreSQL does not try to compress it.
ALTER TABLE measurements
  ADD COLUMN question_ciphertext bytea,
  ADD COLUMN question_type_url text,
  ALTER COLUMN question_ciphertext SET STORAGE EXTERNAL;
-- The attributes that filters can use, as JSON. Text, because PostgreSQL knows its length without reading it.
ALTER TABLE event_groups ADD COLUMN attributes text;
-- Lists of the measurements with a given reference.
CREATE INDEX measurements_by_reference ON measurements (consumer, reference_id, create_time, id)
  WHERE reference_id IS NOT NULL;
