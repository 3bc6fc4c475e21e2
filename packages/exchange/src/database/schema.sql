-- The schema after all migrations. A test prints it from a migrated database and compares:
-- npx vitest run <schema.test.ts of this package> --update writes it anew.

CREATE TABLE api_keys (
  consumer text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  key_hash bytea NOT NULL,
  display_name text NOT NULL,
  description text,
  create_time timestamp with time zone NOT NULL,
  expire_time timestamp with time zone NOT NULL,
  CONSTRAINT api_keys_check CHECK ((expire_time > create_time)),
  CONSTRAINT api_keys_consumer_fkey FOREIGN KEY (consumer) REFERENCES parties(name),
  CONSTRAINT api_keys_description_check CHECK ((length(description) <= 1000)),
  CONSTRAINT api_keys_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 255))),
  CONSTRAINT api_keys_id_check CHECK ((((length(id) >= 1) AND (length(id) <= 63)) AND (id !~ '[^A-Za-z0-9_-]'::text))),
  CONSTRAINT api_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
  CONSTRAINT api_keys_pkey PRIMARY KEY (consumer, id)
);

CREATE TABLE audit_entries (
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  time timestamp with time zone NOT NULL,
  principal text NOT NULL,
  operation text NOT NULL,
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  request_id text NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT audit_entries_pkey PRIMARY KEY (seq)
);

CREATE TABLE certificates (
  party text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  x509_der bytea NOT NULL,
  subject_key_identifier bytea NOT NULL,
  not_before timestamp with time zone NOT NULL,
  not_after timestamp with time zone NOT NULL,
  revocation_state text,
  create_time timestamp with time zone NOT NULL,
  version integer NOT NULL DEFAULT 1,
  CONSTRAINT certificates_id_check CHECK (((id ~ '^[A-Za-z0-9_-]{1,63}$'::text) AND (id <> ALL (ARRAY['-'::text, 'preferred'::text])))),
  CONSTRAINT certificates_party_fkey FOREIGN KEY (party) REFERENCES parties(name),
  CONSTRAINT certificates_pkey PRIMARY KEY (party, id),
  CONSTRAINT certificates_revocation_state_check CHECK ((revocation_state = ANY (ARRAY['HOLD'::text, 'REVOKED'::text]))),
  CONSTRAINT certificates_version_check CHECK ((version >= 1))
);

CREATE TABLE changes (
  party text COLLATE "C" NOT NULL,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  state text,
  version integer NOT NULL,
  time timestamp with time zone NOT NULL,
  CONSTRAINT changes_pkey PRIMARY KEY (party, xid, seq)
);

CREATE TABLE changes_removed (
  party text COLLATE "C" NOT NULL,
  xid xid8 NOT NULL,
  seq bigint NOT NULL,
  CONSTRAINT changes_removed_pkey PRIMARY KEY (party)
);

CREATE TABLE computation_log (
  computation text COLLATE "C" NOT NULL,
  duchy text COLLATE "C" NOT NULL,
  n integer NOT NULL,
  time timestamp with time zone NOT NULL,
  stage text NOT NULL,
  attempt integer NOT NULL,
  message text NOT NULL,
  progress double precision,
  CONSTRAINT computation_log_attempt_check CHECK ((attempt >= 1)),
  CONSTRAINT computation_log_computation_duchy_fkey FOREIGN KEY (computation, duchy) REFERENCES computations(id, duchy),
  CONSTRAINT computation_log_message_check CHECK (((length(message) >= 1) AND (length(message) <= 1000))),
  CONSTRAINT computation_log_n_check CHECK ((n >= 1)),
  CONSTRAINT computation_log_pkey PRIMARY KEY (computation, duchy, n),
  CONSTRAINT computation_log_progress_check CHECK (((progress >= (0)::double precision) AND (progress <= (1)::double precision))),
  CONSTRAINT computation_log_stage_check CHECK (((length(stage) >= 1) AND (length(stage) <= 100)))
);

CREATE TABLE computations (
  id text COLLATE "C" NOT NULL,
  duchy text COLLATE "C" NOT NULL,
  role text NOT NULL,
  state text NOT NULL,
  participant_state text NOT NULL,
  version integer NOT NULL,
  certificate text COLLATE "C",
  key_message bytea,
  key_signature bytea,
  key_algorithm text,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  elgamal_message bytea,
  elgamal_signature bytea,
  elgamal_algorithm text,
  CONSTRAINT computations_check CHECK ((update_time >= create_time)),
  CONSTRAINT computations_check1 CHECK ((num_nulls(key_message, key_signature) = ANY (ARRAY[0, 2]))),
  CONSTRAINT computations_check2 CHECK (((certificate IS NOT NULL) OR (key_message IS NULL))),
  CONSTRAINT computations_check3 CHECK (((role = 'AGGREGATOR'::text) OR (certificate IS NULL) OR (key_message IS NOT NULL))),
  CONSTRAINT computations_check4 CHECK (((participant_state = 'FAILED'::text) OR ((certificate IS NULL) = (participant_state = 'CREATED'::text)))),
  CONSTRAINT computations_check5 CHECK (((certificate IS NOT NULL) OR (state = ANY (ARRAY['PENDING_PARAMS'::text, 'FAILED'::text, 'CANCELLED'::text])))),
  CONSTRAINT computations_confirmation_check CHECK (((participant_state <> 'PARAMS_SET'::text) OR ((elgamal_message IS NOT NULL) AND (state <> ALL (ARRAY['COMPUTING'::text, 'SUCCEEDED'::text]))))),
  CONSTRAINT computations_duchy_certificate_fkey FOREIGN KEY (duchy, certificate) REFERENCES certificates(party, id),
  CONSTRAINT computations_duchy_check CHECK ((duchy ~~ 'duchies/%'::text)),
  CONSTRAINT computations_duchy_fkey FOREIGN KEY (duchy) REFERENCES parties(name),
  CONSTRAINT computations_elgamal_check CHECK (((num_nulls(elgamal_message, elgamal_signature) = ANY (ARRAY[0, 2])) AND ((elgamal_message IS NULL) OR (key_message IS NOT NULL)))),
  CONSTRAINT computations_elgamal_message_check CHECK (((octet_length(elgamal_message) >= 1) AND (octet_length(elgamal_message) <= 1024))),
  CONSTRAINT computations_elgamal_signature_check CHECK (((octet_length(elgamal_signature) >= 1) AND (octet_length(elgamal_signature) <= 1024))),
  CONSTRAINT computations_id_fkey FOREIGN KEY (id) REFERENCES measurements(id),
  CONSTRAINT computations_key_message_check CHECK (((octet_length(key_message) >= 1) AND (octet_length(key_message) <= 1024))),
  CONSTRAINT computations_key_signature_check CHECK (((octet_length(key_signature) >= 1) AND (octet_length(key_signature) <= 1024))),
  CONSTRAINT computations_participant_state_check CHECK ((participant_state = ANY (ARRAY['CREATED'::text, 'PARAMS_SET'::text, 'READY'::text, 'FAILED'::text]))),
  CONSTRAINT computations_pkey PRIMARY KEY (id, duchy),
  CONSTRAINT computations_ring_check CHECK (((role <> 'WORKER'::text) OR (certificate IS NULL) OR (elgamal_message IS NOT NULL))),
  CONSTRAINT computations_role_check CHECK ((role = ANY (ARRAY['FIRST_WORKER'::text, 'SECOND_WORKER'::text, 'WORKER'::text, 'AGGREGATOR'::text]))),
  CONSTRAINT computations_state_check CHECK ((state = ANY (ARRAY['PENDING_PARAMS'::text, 'PENDING_FULFILLMENT'::text, 'PENDING_CONFIRMATION'::text, 'COMPUTING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT computations_version_check CHECK ((version >= 1))
);

CREATE TABLE descriptor_types (
  descriptor text COLLATE "C" NOT NULL,
  type_name text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  CONSTRAINT descriptor_types_descriptor_fkey FOREIGN KEY (descriptor) REFERENCES event_group_metadata_descriptors(id),
  CONSTRAINT descriptor_types_pkey PRIMARY KEY (descriptor, type_name)
);

CREATE TABLE doctor_run (
  only_row boolean NOT NULL DEFAULT true,
  requests integer NOT NULL DEFAULT 0,
  start_time timestamp with time zone,
  end_time timestamp with time zone,
  checks integer,
  findings jsonb NOT NULL DEFAULT '[]'::jsonb,
  failure text,
  lease_expiry timestamp with time zone,
  create_time timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT doctor_run_only_row_check CHECK (only_row),
  CONSTRAINT doctor_run_pkey PRIMARY KEY (only_row),
  CONSTRAINT doctor_run_requests_check CHECK ((requests >= 0))
);

CREATE TABLE event_group_metadata_descriptors (
  id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  descriptor_set bytea NOT NULL,
  request_id text,
  request_hash bytea,
  version integer NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  json_bytes integer,
  CONSTRAINT event_group_metadata_descriptors_check CHECK (((request_hash IS NULL) = (request_id IS NULL))),
  CONSTRAINT event_group_metadata_descriptors_check1 CHECK ((update_time >= create_time)),
  CONSTRAINT event_group_metadata_descriptors_descriptor_set_check CHECK (((octet_length(descriptor_set) >= 1) AND (octet_length(descriptor_set) <= 1048576))),
  CONSTRAINT event_group_metadata_descriptors_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT event_group_metadata_descriptors_json_bytes_check CHECK (((json_bytes >= 0) AND (json_bytes <= 8388608))),
  CONSTRAINT event_group_metadata_descriptors_pkey PRIMARY KEY (id),
  CONSTRAINT event_group_metadata_descriptors_provider_check CHECK ((provider ~~ 'dataProviders/%'::text)),
  CONSTRAINT event_group_metadata_descriptors_provider_fkey FOREIGN KEY (provider) REFERENCES parties(name),
  CONSTRAINT event_group_metadata_descriptors_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 255))),
  CONSTRAINT event_group_metadata_descriptors_version_check CHECK ((version >= 1))
);

CREATE TABLE event_groups (
  id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  consumer text COLLATE "C" NOT NULL,
  reference_id text,
  media_types text[] NOT NULL DEFAULT '{}'::text[],
  availability_start timestamp with time zone,
  availability_end timestamp with time zone,
  brand_name text,
  campaign_name text,
  metadata_ciphertext bytea,
  metadata_cipher_url text,
  descriptor text COLLATE "C",
  metadata_type_url text,
  metadata_value bytea,
  metadata_size integer,
  key_type text,
  key_data bytea,
  key_format text,
  state text NOT NULL,
  request_id text,
  request_hash bytea,
  version integer NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  search tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, ((COALESCE(brand_name, ''::text) || ' '::text) || COALESCE(campaign_name, ''::text)))) STORED,
  attributes text,
  event_templates text[] NOT NULL DEFAULT '{}'::text[],
  vid_model_lines text[] NOT NULL DEFAULT '{}'::text[],
  entity_type text,
  entity_id text,
  entity_metadata text,
  CONSTRAINT event_groups_brand_name_check CHECK ((length(brand_name) <= 1000)),
  CONSTRAINT event_groups_campaign_name_check CHECK ((length(campaign_name) <= 1000)),
  CONSTRAINT event_groups_check CHECK ((availability_end > availability_start)),
  CONSTRAINT event_groups_check1 CHECK (((request_hash IS NULL) = (request_id IS NULL))),
  CONSTRAINT event_groups_check2 CHECK ((update_time >= create_time)),
  CONSTRAINT event_groups_check3 CHECK (((metadata_ciphertext IS NULL) OR (descriptor IS NULL))),
  CONSTRAINT event_groups_check4 CHECK ((num_nulls(metadata_ciphertext, metadata_cipher_url) = ANY (ARRAY[0, 2]))),
  CONSTRAINT event_groups_check5 CHECK ((num_nulls(descriptor, metadata_type_url, metadata_value, metadata_size) = ANY (ARRAY[0, 4]))),
  CONSTRAINT event_groups_check6 CHECK (((metadata_ciphertext IS NULL) OR (key_data IS NOT NULL))),
  CONSTRAINT event_groups_check7 CHECK (((availability_end IS NULL) OR (availability_start IS NOT NULL))),
  CONSTRAINT event_groups_check8 CHECK (((state = 'ACTIVE'::text) OR (COALESCE(metadata_ciphertext, metadata_value, key_data) IS NULL))),
  CONSTRAINT event_groups_check9 CHECK (((entity_id IS NULL) OR (entity_type IS NOT NULL))),
  CONSTRAINT event_groups_consumer_check CHECK ((consumer ~~ 'measurementConsumers/%'::text)),
  CONSTRAINT event_groups_consumer_fkey FOREIGN KEY (consumer) REFERENCES parties(name),
  CONSTRAINT event_groups_descriptor_fkey FOREIGN KEY (descriptor) REFERENCES event_group_metadata_descriptors(id),
  CONSTRAINT event_groups_entity_id_check CHECK (((length(entity_id) >= 1) AND (length(entity_id) <= 255))),
  CONSTRAINT event_groups_entity_type_check CHECK (((length(entity_type) >= 1) AND (length(entity_type) <= 63))),
  CONSTRAINT event_groups_id_check CHECK ((((length(id) >= 1) AND (length(id) <= 63)) AND (id !~ '[^A-Za-z0-9_-]'::text))),
  CONSTRAINT event_groups_pkey PRIMARY KEY (id),
  CONSTRAINT event_groups_provider_check CHECK ((provider ~~ 'dataProviders/%'::text)),
  CONSTRAINT event_groups_provider_fkey FOREIGN KEY (provider) REFERENCES parties(name),
  CONSTRAINT event_groups_reference_id_check CHECK ((length(reference_id) <= 255)),
  CONSTRAINT event_groups_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 255))),
  CONSTRAINT event_groups_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'DELETED'::text]))),
  CONSTRAINT event_groups_version_check CHECK ((version >= 1))
);

CREATE TABLE last_seen (
  party text COLLATE "C" NOT NULL,
  time timestamp with time zone NOT NULL,
  CONSTRAINT last_seen_pkey PRIMARY KEY (party)
);

CREATE TABLE measurement_tombstones (
  id text COLLATE "C" NOT NULL,
  consumer text COLLATE "C" NOT NULL,
  state text NOT NULL,
  request_id text,
  request_hash bytea,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  delete_time timestamp with time zone NOT NULL,
  CONSTRAINT measurement_tombstones_pkey PRIMARY KEY (id)
);

CREATE TABLE measurements (
  id text COLLATE "C" NOT NULL,
  consumer text COLLATE "C" NOT NULL,
  certificate text COLLATE "C" NOT NULL,
  spec_message bytea NOT NULL,
  spec_signature bytea NOT NULL,
  spec_algorithm text,
  reference_id text,
  request_id text,
  request_hash bytea,
  measurement_type text,
  protocol text NOT NULL,
  state text NOT NULL,
  failure_reason text,
  failure_message text,
  requisition_count integer NOT NULL,
  version integer NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  protocol_config jsonb,
  result_duchy text COLLATE "C",
  result_certificate text COLLATE "C",
  result_ciphertext bytea,
  result_type_url text,
  traceparent text,
  question_ciphertext bytea,
  question_type_url text,
  CONSTRAINT measurements_check CHECK (((request_hash IS NULL) = (request_id IS NULL))),
  CONSTRAINT measurements_check1 CHECK (((failure_reason IS NOT NULL) = (state = 'FAILED'::text))),
  CONSTRAINT measurements_check2 CHECK (((failure_message IS NOT NULL) = (state = 'FAILED'::text))),
  CONSTRAINT measurements_check3 CHECK ((update_time >= create_time)),
  CONSTRAINT measurements_consumer_certificate_fkey FOREIGN KEY (consumer, certificate) REFERENCES certificates(party, id),
  CONSTRAINT measurements_consumer_check CHECK ((consumer ~~ 'measurementConsumers/%'::text)),
  CONSTRAINT measurements_id_check CHECK ((((length(id) >= 1) AND (length(id) <= 63)) AND (id !~ '[^A-Za-z0-9_-]'::text))),
  CONSTRAINT measurements_pkey PRIMARY KEY (id),
  CONSTRAINT measurements_protocol_config_check CHECK (((protocol_config IS NOT NULL) = (protocol <> 'direct'::text))),
  CONSTRAINT measurements_reference_id_check CHECK ((length(reference_id) <= 255)),
  CONSTRAINT measurements_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 255))),
  CONSTRAINT measurements_requisition_count_check CHECK ((requisition_count >= 1)),
  CONSTRAINT measurements_result_check CHECK ((num_nulls(result_duchy, result_certificate, result_ciphertext, result_type_url) =
CASE
    WHEN ((state = 'SUCCEEDED'::text) AND (protocol <> 'direct'::text)) THEN 0
    ELSE 4
END)),
  CONSTRAINT measurements_result_duchy_result_certificate_fkey FOREIGN KEY (result_duchy, result_certificate) REFERENCES certificates(party, id),
  CONSTRAINT measurements_state_check CHECK ((state = ANY (ARRAY['AWAITING_REQUISITION_FULFILLMENT'::text, 'COMPUTING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT measurements_version_check CHECK ((version >= 1))
);

CREATE TABLE parties (
  name text COLLATE "C" NOT NULL,
  display_name text NOT NULL DEFAULT ''::text,
  state text NOT NULL DEFAULT 'ACTIVE'::text,
  public_key bytea,
  public_key_signature bytea,
  public_key_certificate text COLLATE "C",
  protocols text[] NOT NULL DEFAULT '{}'::text[],
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  public_key_algorithm text,
  availability_start timestamp with time zone,
  availability_end timestamp with time zone,
  version integer NOT NULL DEFAULT 1,
  endpoint text,
  model_line_availability text,
  CONSTRAINT parties_check CHECK ((update_time >= create_time)),
  CONSTRAINT parties_check1 CHECK ((availability_end > availability_start)),
  CONSTRAINT parties_check2 CHECK (((endpoint IS NULL) OR (name ~~ 'duchies/%'::text))),
  CONSTRAINT parties_display_name_check CHECK ((length(display_name) <= 255)),
  CONSTRAINT parties_endpoint_check CHECK ((length(endpoint) <= 1000)),
  CONSTRAINT parties_name_check CHECK ((name ~ '^(measurementConsumers|dataProviders|duchies)/[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT parties_pkey PRIMARY KEY (name),
  CONSTRAINT parties_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text]))),
  CONSTRAINT parties_version_check CHECK ((version >= 1))
);

CREATE TABLE population_model_lines (
  model_line text COLLATE "C" NOT NULL,
  population text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  CONSTRAINT population_model_lines_model_line_check CHECK (((length(model_line) >= 1) AND (length(model_line) <= 255))),
  CONSTRAINT population_model_lines_pkey PRIMARY KEY (model_line),
  CONSTRAINT population_model_lines_population_fkey FOREIGN KEY (population) REFERENCES populations(id)
);

CREATE TABLE populations (
  id text COLLATE "C" NOT NULL,
  display_name text NOT NULL,
  vid_ranges jsonb NOT NULL,
  size integer NOT NULL,
  fingerprint bytea NOT NULL,
  is_default boolean NOT NULL,
  version integer NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  subpopulations jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT populations_check CHECK ((update_time >= create_time)),
  CONSTRAINT populations_display_name_check CHECK ((length(display_name) <= 255)),
  CONSTRAINT populations_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
  CONSTRAINT populations_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT populations_pkey PRIMARY KEY (id),
  CONSTRAINT populations_size_check CHECK (((size >= 1) AND (size <= 2147483646))),
  CONSTRAINT populations_subpopulations_check CHECK ((jsonb_array_length(subpopulations) <= 1000)),
  CONSTRAINT populations_version_check CHECK ((version >= 1)),
  CONSTRAINT populations_vid_ranges_check CHECK (((jsonb_array_length(vid_ranges) >= 1) AND (jsonb_array_length(vid_ranges) <= 1000)))
);

CREATE TABLE principals (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  resource text COLLATE "C" NOT NULL,
  create_time timestamp with time zone NOT NULL,
  id text COLLATE "C" NOT NULL,
  CONSTRAINT principals_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT principals_issuer_check CHECK ((length(issuer) <= 1000)),
  CONSTRAINT principals_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT principals_subject_check CHECK ((length(subject) <= 255))
);

CREATE TABLE replicas (
  id text COLLATE "C" NOT NULL,
  host text NOT NULL,
  version text NOT NULL,
  start_time timestamp with time zone NOT NULL,
  time timestamp with time zone NOT NULL,
  CONSTRAINT replicas_pkey PRIMARY KEY (id)
);

CREATE TABLE report_measurements (
  consumer text COLLATE "C" NOT NULL,
  report text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  n integer NOT NULL,
  measurement text COLLATE "C" NOT NULL,
  CONSTRAINT report_measurements_consumer_report_fkey FOREIGN KEY (consumer, report) REFERENCES reports(consumer, id),
  CONSTRAINT report_measurements_key_check CHECK ((length(key) = 64)),
  CONSTRAINT report_measurements_n_check CHECK (((n >= 1) AND (n <= 5000))),
  CONSTRAINT report_measurements_pkey PRIMARY KEY (consumer, report, key)
);

CREATE TABLE reports (
  consumer text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  title text,
  definition text,
  definition_ciphertext bytea,
  definition_type_url text,
  definition_hash bytea,
  answer_ciphertext bytea,
  answer_type_url text,
  measurement_count integer NOT NULL,
  state text NOT NULL,
  waiting_for text COLLATE "C",
  revision integer NOT NULL,
  version integer NOT NULL,
  request_id text,
  request_hash bytea,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  CONSTRAINT reports_answer_ciphertext_check CHECK (((octet_length(answer_ciphertext) >= 1) AND (octet_length(answer_ciphertext) <= 1048576))),
  CONSTRAINT reports_answer_type_url_check CHECK (((length(answer_type_url) >= 1) AND (length(answer_type_url) <= 512))),
  CONSTRAINT reports_check CHECK (((request_hash IS NULL) = (request_id IS NULL))),
  CONSTRAINT reports_check1 CHECK ((update_time >= create_time)),
  CONSTRAINT reports_check2 CHECK (((state <> 'RUNNING'::text) OR (waiting_for IS NOT NULL))),
  CONSTRAINT reports_check3 CHECK (((definition_ciphertext IS NULL) = (definition_type_url IS NULL))),
  CONSTRAINT reports_check4 CHECK (((answer_ciphertext IS NULL) = (answer_type_url IS NULL))),
  CONSTRAINT reports_check5 CHECK ((num_nonnulls(definition, definition_ciphertext) =
CASE state
    WHEN 'DELETED'::text THEN 0
    ELSE 1
END)),
  CONSTRAINT reports_check6 CHECK (((definition_hash IS NULL) = (state = 'DELETED'::text))),
  CONSTRAINT reports_consumer_fkey FOREIGN KEY (consumer) REFERENCES parties(name),
  CONSTRAINT reports_definition_check CHECK (((octet_length(definition) >= 1) AND (octet_length(definition) <= 65536))),
  CONSTRAINT reports_definition_ciphertext_check CHECK (((octet_length(definition_ciphertext) >= 1) AND (octet_length(definition_ciphertext) <= 65536))),
  CONSTRAINT reports_definition_hash_check CHECK ((octet_length(definition_hash) = 32)),
  CONSTRAINT reports_definition_type_url_check CHECK (((length(definition_type_url) >= 1) AND (length(definition_type_url) <= 512))),
  CONSTRAINT reports_id_check CHECK ((((length(id) >= 1) AND (length(id) <= 63)) AND (id !~ '[^A-Za-z0-9_-]'::text))),
  CONSTRAINT reports_measurement_count_check CHECK (((measurement_count >= 0) AND (measurement_count <= 5000))),
  CONSTRAINT reports_pkey PRIMARY KEY (consumer, id),
  CONSTRAINT reports_request_id_check CHECK (((length(request_id) >= 1) AND (length(request_id) <= 255))),
  CONSTRAINT reports_revision_check CHECK ((revision >= 1)),
  CONSTRAINT reports_state_check CHECK ((state = ANY (ARRAY['PLANNED'::text, 'RUNNING'::text, 'COMPLETE'::text, 'INCOMPLETE'::text, 'DELETED'::text]))),
  CONSTRAINT reports_title_check CHECK ((length(title) <= 256)),
  CONSTRAINT reports_version_check CHECK ((version >= 1))
);

CREATE TABLE requisition_tombstones (
  id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  measurement text COLLATE "C" NOT NULL,
  state text NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  CONSTRAINT requisition_tombstones_measurement_fkey FOREIGN KEY (measurement) REFERENCES measurement_tombstones(id),
  CONSTRAINT requisition_tombstones_pkey PRIMARY KEY (id)
);

CREATE TABLE requisitions (
  id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  measurement text COLLATE "C" NOT NULL,
  ordinal integer NOT NULL,
  certificate text COLLATE "C" NOT NULL,
  public_key_type text NOT NULL,
  public_key_data bytea NOT NULL,
  public_key_format text,
  spec_ciphertext bytea NOT NULL,
  spec_type_url text NOT NULL,
  disclosed_nonce bigint,
  nonce_hash bytea NOT NULL,
  state text NOT NULL,
  refusal_justification text,
  refusal_message text,
  nonce bigint,
  result_certificate text COLLATE "C",
  result_ciphertext bytea,
  result_type_url text,
  fulfillment_context jsonb,
  version integer NOT NULL,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  fulfilling_duchy text COLLATE "C",
  deferral_reason text,
  deferral_until timestamp with time zone,
  deferral_time timestamp with time zone,
  CONSTRAINT requisitions_check CHECK (((refusal_justification IS NOT NULL) = (state = 'REFUSED'::text))),
  CONSTRAINT requisitions_check1 CHECK (((nonce IS NOT NULL) = (state = 'FULFILLED'::text))),
  CONSTRAINT requisitions_check5 CHECK ((update_time >= create_time)),
  CONSTRAINT requisitions_fulfilling_duchy_check CHECK ((fulfilling_duchy ~~ 'duchies/%'::text)),
  CONSTRAINT requisitions_id_check CHECK ((((length(id) >= 1) AND (length(id) <= 63)) AND (id !~ '[^A-Za-z0-9_-]'::text))),
  CONSTRAINT requisitions_measurement_fkey FOREIGN KEY (measurement) REFERENCES measurements(id),
  CONSTRAINT requisitions_measurement_provider_key UNIQUE (measurement, provider),
  CONSTRAINT requisitions_nonce_hash_check CHECK ((octet_length(nonce_hash) = 32)),
  CONSTRAINT requisitions_pkey PRIMARY KEY (id),
  CONSTRAINT requisitions_provider_certificate_fkey FOREIGN KEY (provider, certificate) REFERENCES certificates(party, id),
  CONSTRAINT requisitions_provider_check CHECK ((provider ~~ 'dataProviders/%'::text)),
  CONSTRAINT requisitions_provider_result_certificate_fkey FOREIGN KEY (provider, result_certificate) REFERENCES certificates(party, id),
  CONSTRAINT requisitions_result_check CHECK ((num_nulls(result_certificate, result_ciphertext, result_type_url) =
CASE
    WHEN ((state = 'FULFILLED'::text) AND (fulfilling_duchy IS NULL)) THEN 0
    ELSE 3
END)),
  CONSTRAINT requisitions_state_check CHECK ((state = ANY (ARRAY['UNFULFILLED'::text, 'FULFILLED'::text, 'REFUSED'::text, 'WITHDRAWN'::text]))),
  CONSTRAINT requisitions_version_check CHECK ((version >= 1))
);

CREATE TABLE revocation_cascades (
  party text COLLATE "C" NOT NULL,
  certificate text COLLATE "C" NOT NULL,
  revocation_state text NOT NULL,
  time timestamp with time zone NOT NULL,
  actor text NOT NULL,
  request_id text NOT NULL,
  done_time timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  done_id text COLLATE "C" NOT NULL DEFAULT ''::text,
  CONSTRAINT revocation_cascades_party_certificate_fkey FOREIGN KEY (party, certificate) REFERENCES certificates(party, id),
  CONSTRAINT revocation_cascades_pkey PRIMARY KEY (party, certificate),
  CONSTRAINT revocation_cascades_revocation_state_check CHECK ((revocation_state = ANY (ARRAY['HOLD'::text, 'REVOKED'::text])))
);

CREATE TABLE schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version)
);

CREATE TABLE settings (
  key text NOT NULL,
  value text NOT NULL,
  CONSTRAINT settings_pkey PRIMARY KEY (key)
);

CREATE TABLE transitions (
  measurement text COLLATE "C" NOT NULL,
  requisition text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  from_state text,
  to_state text NOT NULL,
  time timestamp with time zone NOT NULL,
  actor text NOT NULL,
  cause text NOT NULL,
  request_id text NOT NULL,
  findings jsonb,
  seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT transitions_measurement_fkey FOREIGN KEY (measurement) REFERENCES measurements(id),
  CONSTRAINT transitions_pkey PRIMARY KEY (measurement, requisition, version)
);

CREATE TABLE trusted_roots (
  id text COLLATE "C" NOT NULL,
  party text COLLATE "C",
  x509_der bytea NOT NULL,
  subject_key_identifier bytea NOT NULL,
  not_before timestamp with time zone NOT NULL,
  not_after timestamp with time zone NOT NULL,
  create_time timestamp with time zone NOT NULL,
  CONSTRAINT trusted_roots_id_check CHECK ((id ~ '^[A-Za-z0-9_-]{1,63}$'::text)),
  CONSTRAINT trusted_roots_party_fkey FOREIGN KEY (party) REFERENCES parties(name),
  CONSTRAINT trusted_roots_pkey PRIMARY KEY (id)
);

CREATE TABLE webhook_deliveries (
  webhook text COLLATE "C" NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  xid xid8,
  seq bigint,
  resource text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  resource_state text,
  version integer NOT NULL,
  time timestamp with time zone NOT NULL,
  state text NOT NULL DEFAULT 'PENDING'::text,
  attempts integer NOT NULL DEFAULT 0,
  first_failure_time timestamp with time zone,
  last_attempt_time timestamp with time zone,
  next_attempt_time timestamp with time zone,
  status integer,
  error text,
  milliseconds integer,
  create_time timestamp with time zone NOT NULL,
  CONSTRAINT webhook_deliveries_check CHECK (((seq IS NULL) = (xid IS NULL))),
  CONSTRAINT webhook_deliveries_check1 CHECK (((state = 'PENDING'::text) = (next_attempt_time IS NOT NULL))),
  CONSTRAINT webhook_deliveries_error_check CHECK ((length(error) <= 1000)),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (webhook, number),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'FAILED'::text]))),
  CONSTRAINT webhook_deliveries_webhook_fkey FOREIGN KEY (webhook) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE TABLE webhook_redeliveries (
  party text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL,
  count integer NOT NULL,
  CONSTRAINT webhook_redeliveries_party_fkey FOREIGN KEY (party) REFERENCES parties(name),
  CONSTRAINT webhook_redeliveries_pkey PRIMARY KEY (party)
);

CREATE TABLE webhooks (
  id text COLLATE "C" NOT NULL,
  party text COLLATE "C" NOT NULL,
  url text NOT NULL,
  description text NOT NULL,
  kinds text[] NOT NULL,
  state text NOT NULL,
  pause_reason text,
  skipped_time timestamp with time zone,
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_expiry timestamp with time zone,
  cursor_xid xid8 NOT NULL,
  cursor_seq bigint NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  next_attempt_time timestamp with time zone NOT NULL,
  lease_owner text,
  lease_expiry timestamp with time zone,
  create_time timestamp with time zone NOT NULL,
  update_time timestamp with time zone NOT NULL,
  CONSTRAINT webhooks_check CHECK (((pause_reason IS NULL) = (state = 'ACTIVE'::text))),
  CONSTRAINT webhooks_check1 CHECK (((old_secret_expiry IS NULL) = (old_secret IS NULL))),
  CONSTRAINT webhooks_check2 CHECK (((lease_expiry IS NULL) = (lease_owner IS NULL))),
  CONSTRAINT webhooks_check3 CHECK ((update_time >= create_time)),
  CONSTRAINT webhooks_description_check CHECK ((length(description) <= 1000)),
  CONSTRAINT webhooks_party_fkey FOREIGN KEY (party) REFERENCES parties(name),
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text]))),
  CONSTRAINT webhooks_url_check CHECK (((length(url) >= 1) AND (length(url) <= 4000)))
);

CREATE INDEX api_keys_by_create_time ON api_keys USING btree (consumer, create_time, id);
CREATE UNIQUE INDEX api_keys_hash ON api_keys USING btree (key_hash);
CREATE INDEX audit_entries_by_name ON audit_entries USING btree (name, version);
CREATE INDEX audit_entries_by_transaction ON audit_entries USING btree (xid, seq);
CREATE INDEX certificates_by_create_time ON certificates USING btree (party, create_time, id);
CREATE INDEX certificates_by_expiry ON certificates USING btree (not_after) WHERE (revocation_state IS NULL);
CREATE INDEX certificates_by_key ON certificates USING btree (subject_key_identifier, party);
CREATE UNIQUE INDEX certificates_der ON certificates USING btree (party, sha256(x509_der));
CREATE INDEX computations_by_update_time ON computations USING btree (duchy, state, update_time, id);
CREATE INDEX computations_computing ON computations USING btree (update_time, id) WHERE ((state = 'COMPUTING'::text) AND (role = 'AGGREGATOR'::text));
CREATE UNIQUE INDEX computations_one_of_a_role ON computations USING btree (id, role) WHERE (role <> 'WORKER'::text);
CREATE INDEX computations_pending_confirmation ON computations USING btree (update_time, id) WHERE ((state = 'PENDING_CONFIRMATION'::text) AND (role = 'AGGREGATOR'::text));
CREATE INDEX computations_pending_fulfillment ON computations USING btree (create_time, id) WHERE ((state = 'PENDING_FULFILLMENT'::text) AND (role = 'AGGREGATOR'::text));
CREATE INDEX computations_pending_parameters ON computations USING btree (create_time, id) WHERE ((state = 'PENDING_PARAMS'::text) AND (role = 'AGGREGATOR'::text));
CREATE INDEX descriptor_types_by_name ON descriptor_types USING btree (type_name, provider, descriptor);
CREATE INDEX descriptors_by_create_time ON event_group_metadata_descriptors USING btree (create_time, id);
CREATE INDEX descriptors_by_provider ON event_group_metadata_descriptors USING btree (provider, create_time, id);
CREATE UNIQUE INDEX descriptors_request_id ON event_group_metadata_descriptors USING btree (provider, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX event_groups_by_consumer ON event_groups USING btree (consumer, state, create_time, id);
CREATE INDEX event_groups_by_consumer_start ON event_groups USING btree (consumer, state, COALESCE(availability_start, '-infinity'::timestamp with time zone), id);
CREATE INDEX event_groups_by_descriptor ON event_groups USING btree (descriptor) WHERE (descriptor IS NOT NULL);
CREATE INDEX event_groups_by_parties ON event_groups USING btree (provider, consumer, state, create_time, id);
CREATE INDEX event_groups_by_provider ON event_groups USING btree (provider, state, create_time, id);
CREATE INDEX event_groups_by_provider_start ON event_groups USING btree (provider, state, COALESCE(availability_start, '-infinity'::timestamp with time zone), id);
CREATE INDEX event_groups_by_search ON event_groups USING gin ((ARRAY[provider, consumer]), search) WITH (fastupdate=off);
CREATE UNIQUE INDEX event_groups_request_id ON event_groups USING btree (provider, request_id) WHERE (request_id IS NOT NULL);
CREATE UNIQUE INDEX measurement_tombstones_request_id ON measurement_tombstones USING btree (consumer, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX measurements_by_create_time ON measurements USING btree (consumer, state, create_time, id);
CREATE INDEX measurements_by_reference ON measurements USING btree (consumer, reference_id, create_time, id) WHERE (reference_id IS NOT NULL);
CREATE INDEX measurements_by_update_time ON measurements USING btree (consumer, state, update_time, id);
CREATE INDEX measurements_pending ON measurements USING btree (create_time, id) WHERE (state = ANY (ARRAY['AWAITING_REQUISITION_FULFILLMENT'::text, 'COMPUTING'::text]));
CREATE UNIQUE INDEX measurements_request_id ON measurements USING btree (consumer, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX measurements_terminal ON measurements USING btree (update_time, id) WHERE (state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX parties_by_create_time ON parties USING btree (split_part(name, '/'::text, 1), create_time, name);
CREATE INDEX population_model_lines_of ON population_model_lines USING btree (population, ordinal);
CREATE INDEX populations_by_create_time ON populations USING btree (create_time, id);
CREATE UNIQUE INDEX populations_default ON populations USING btree (is_default) WHERE is_default;
CREATE INDEX principals_by_create_time ON principals USING btree (create_time, id);
CREATE INDEX principals_by_resource ON principals USING btree (resource, create_time, id);
CREATE UNIQUE INDEX principals_id ON principals USING btree (id);
CREATE INDEX report_measurements_by_measurement ON report_measurements USING btree (measurement);
CREATE INDEX reports_by_create_time ON reports USING btree (consumer, state, create_time, id);
CREATE UNIQUE INDEX reports_request_id ON reports USING btree (consumer, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX reports_waiting ON reports USING btree (consumer, id) WHERE (waiting_for IS NOT NULL);
CREATE INDEX requisition_tombstones_of_measurement ON requisition_tombstones USING btree (measurement);
CREATE INDEX requisitions_by_create_time ON requisitions USING btree (provider, state, create_time, id);
CREATE INDEX requisitions_by_update_time ON requisitions USING btree (provider, state, update_time, id);
CREATE INDEX trusted_roots_by_create_time ON trusted_roots USING btree (create_time, id);
CREATE INDEX trusted_roots_by_key ON trusted_roots USING btree (subject_key_identifier);
CREATE INDEX trusted_roots_by_party ON trusted_roots USING btree (party);
CREATE UNIQUE INDEX trusted_roots_der ON trusted_roots USING btree (sha256(x509_der), COALESCE(party, ''::text));
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries USING btree (webhook, number) WHERE (state = 'PENDING'::text);
CREATE INDEX webhooks_by_create_time ON webhooks USING btree (party, create_time, id);
CREATE INDEX webhooks_by_next_attempt ON webhooks USING btree (next_attempt_time, id);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON changes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER terminal_state BEFORE UPDATE ON computations FOR EACH ROW WHEN ((old.state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))) EXECUTE FUNCTION refuse_leaving_terminal_state();
CREATE CONSTRAINT TRIGGER requisition_count AFTER INSERT ON measurements DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_requisitions();
CREATE TRIGGER terminal_state BEFORE UPDATE ON measurements FOR EACH ROW WHEN ((old.state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))) EXECUTE FUNCTION refuse_leaving_terminal_state();
CREATE TRIGGER same_ranges BEFORE UPDATE ON populations FOR EACH ROW WHEN (((((old.vid_ranges IS DISTINCT FROM new.vid_ranges) OR (old.size IS DISTINCT FROM new.size)) OR (old.fingerprint IS DISTINCT FROM new.fingerprint)) OR (old.subpopulations IS DISTINCT FROM new.subpopulations))) EXECUTE FUNCTION refuse_other_ranges();
CREATE TRIGGER terminal_state BEFORE UPDATE ON requisitions FOR EACH ROW WHEN ((old.state <> 'UNFULFILLED'::text)) EXECUTE FUNCTION refuse_leaving_terminal_state();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON transitions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE OR REPLACE FUNCTION expect_rows(actual bigint, expected bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
  IF actual <> expected THEN
    RAISE EXCEPTION 'changed % rows, not %', actual, expected USING ERRCODE = '40001';
  END IF;
  RETURN actual;
END $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_TABLE_NAME IN ('transitions', 'changes') AND TG_OP = 'DELETE'
     AND current_setting('mex.removing', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $function$;

CREATE OR REPLACE FUNCTION refuse_leaving_terminal_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% % is % and stays so', TG_TABLE_NAME, OLD.id, OLD.state;
END $function$;

CREATE OR REPLACE FUNCTION refuse_other_ranges()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'the ranges of population % never change', OLD.id;
END $function$;

CREATE OR REPLACE FUNCTION remove_changes(of_party text, before timestamp with time zone, batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION remove_measurements(ids text[], now timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  terminal text[];
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO terminal FROM (
    SELECT id FROM measurements WHERE id = ANY(ids) AND state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
     ORDER BY id FOR UPDATE SKIP LOCKED) locked;
  INSERT INTO measurement_tombstones
    SELECT id, consumer, state, request_id, request_hash, create_time, update_time, now
      FROM measurements WHERE id = ANY(terminal);
  INSERT INTO requisition_tombstones
    SELECT id, provider, measurement, state, create_time, update_time
      FROM requisitions WHERE measurement = ANY(terminal);
  PERFORM set_config('mex.removing', 'on', true);
  DELETE FROM transitions WHERE measurement = ANY(terminal);
  PERFORM set_config('mex.removing', 'off', true);
  DELETE FROM computation_log WHERE computation = ANY(terminal);
  DELETE FROM computations WHERE id = ANY(terminal);
  DELETE FROM requisitions WHERE measurement = ANY(terminal);
  DELETE FROM measurements WHERE id = ANY(terminal);
  UPDATE reports r SET waiting_for = lost.measurement FROM (
    SELECT r.consumer, r.id, e.measurement FROM report_measurements e
      JOIN reports r ON r.consumer = e.consumer AND r.id = e.report
     WHERE e.measurement = ANY(terminal) ORDER BY r.consumer, r.id FOR UPDATE OF r) lost
   WHERE r.consumer = lost.consumer AND r.id = lost.id AND r.state IN ('RUNNING', 'COMPLETE');
  RETURN cardinality(terminal);
END $function$;

CREATE OR REPLACE FUNCTION require_requisitions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  found integer;
BEGIN
  SELECT count(*) INTO found FROM requisitions WHERE measurement = NEW.id;
  IF found <> NEW.requisition_count THEN
    RAISE EXCEPTION 'measurement % has % requisitions, not %', NEW.id, found, NEW.requisition_count;
  END IF;
  RETURN NULL;
END $function$;
