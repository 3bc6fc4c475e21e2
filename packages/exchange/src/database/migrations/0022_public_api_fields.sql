-- What clients of the public reference system say about event groups. The entity's metadata is an object as JSON: text,
-- because PostgreSQL knows its length without reading it.
ALTER TABLE event_groups
  ADD COLUMN event_templates text[] NOT NULL DEFAULT '{}',
  ADD COLUMN vid_model_lines text[] NOT NULL DEFAULT '{}',
  ADD COLUMN entity_type text CHECK (length(entity_type) BETWEEN 1 AND 63),
  ADD COLUMN entity_id text CHECK (length(entity_id) BETWEEN 1 AND 255),
  ADD COLUMN entity_metadata text;
ALTER TABLE event_groups ADD CHECK (entity_id IS NULL OR entity_type IS NOT NULL);
-- [{"modelLine": "…", "interval": {"startTime": "…", "endTime": "…"}}, …]
ALTER TABLE parties ADD COLUMN model_line_availability text;
