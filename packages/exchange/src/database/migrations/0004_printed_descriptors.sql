-- Bytes of a descriptor set as JSON: lists and batches are limited by what they print.
-- NULL in rows of earlier versions, which are taken for six times the bytes of the set.
ALTER TABLE event_group_metadata_descriptors
  ADD COLUMN json_bytes integer CHECK (json_bytes BETWEEN 0 AND 8388608);
