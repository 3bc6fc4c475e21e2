/** Rows by themselves: what they refer to is there, and what they hold is within its bounds. */
import {
  FAILURE_REASONS,
  MEASUREMENT_STATES,
  MEASUREMENT_TYPES,
  PROTOCOLS,
  REFUSAL_JUSTIFICATIONS,
  REQUISITION_STATES,
  REVOCATION_STATES,
} from '@measurement-exchange/contract';
import { type Check, check, DESCRIPTOR_NAME, MEASUREMENT_NAME, REQUISITION_NAME, RESTORE } from './check.ts';

const CERTIFICATE_NAME = `c.party || '/certificates/' || c.id`;
const PRINCIPAL_NAME = `'principal ' || p.subject || ' of ' || p.issuer`;

/** Everything that a requestId can have made. */
const REQUESTED = `
  SELECT ${MEASUREMENT_NAME} AS name, m.consumer AS parent, m.request_id, m.request_hash FROM measurements m
   UNION ALL
  SELECT ${DESCRIPTOR_NAME}, d.provider, d.request_id, d.request_hash FROM event_group_metadata_descriptors d`;

/** Each certificate that something names, with the party that must own it. */
const CERTIFICATE_REFERENCES = `
  SELECT ${MEASUREMENT_NAME} AS name, m.consumer AS party, m.certificate AS id FROM measurements m
   UNION ALL
  SELECT ${REQUISITION_NAME}, r.provider, r.certificate FROM requisitions r
   UNION ALL
  SELECT ${REQUISITION_NAME}, r.provider, r.result_certificate FROM requisitions r
   WHERE r.result_certificate IS NOT NULL`;

/** One pattern with a count took 5.3 s over 400,000 rows; this takes 0.8 s. */
const malformed = (id: string) => `(${id} ~ '[^A-Za-z0-9_-]' OR length(${id}) NOT BETWEEN 1 AND 63)`;

export const rowChecks: Check[] = [
  check(
    {
      id: 'request-id-duplicate',
      meaning: 'Two resources of one parent carry the same requestId: a retry may find either.',
      remedy: `Set request_id and request_hash of the later one to NULL, then REINDEX the index that let it pass.`,
    },
    `SELECT name FROM (
       SELECT name, count(*) OVER (PARTITION BY parent, request_id) AS uses FROM (${REQUESTED}) AS requested
        WHERE request_id IS NOT NULL
     ) AS requested WHERE uses > 1`,
  ),
  check(
    {
      id: 'request-hash',
      meaning: 'A resource has a requestId without the SHA-256 of its content, or the other way round.',
      remedy: `Set both request_id and request_hash to NULL, after which the requestId is free again. ${RESTORE}`,
    },
    `SELECT name FROM (${REQUESTED}) AS requested
      WHERE (request_id IS NULL) <> (request_hash IS NULL) OR octet_length(request_hash) <> 32`,
  ),
  check(
    {
      id: 'certificate-owner',
      meaning:
        'A certificate is named that the measurement consumer or data provider in question does not have.',
      remedy: RESTORE,
    },
    `SELECT name FROM (${CERTIFICATE_REFERENCES}) AS reference LEFT JOIN certificates c USING (party, id)
      WHERE c.party IS NULL
      UNION ALL
     SELECT p.name FROM parties p
       LEFT JOIN certificates c ON c.party = p.name AND p.public_key_certificate = ${CERTIFICATE_NAME}
      WHERE p.public_key_certificate IS NOT NULL AND c.id IS NULL`,
  ),
  check(
    {
      id: 'orphan',
      meaning: 'A row belongs to something that does not exist.',
      remedy: RESTORE,
    },
    `SELECT ${REQUISITION_NAME} AS name FROM requisitions r LEFT JOIN measurements m ON m.id = r.measurement
      WHERE m.id IS NULL
      UNION ALL
     SELECT 'transition of ' || t.measurement FROM transitions t LEFT JOIN measurements m ON m.id = t.measurement
      WHERE m.id IS NULL
      UNION ALL
     SELECT 'transition of ' || t.measurement || ' ' || t.requisition FROM transitions t
       LEFT JOIN requisitions r ON r.id = t.requisition AND r.measurement = t.measurement
      WHERE t.requisition <> '' AND r.id IS NULL
      UNION ALL
     SELECT ${CERTIFICATE_NAME} FROM certificates c LEFT JOIN parties ON parties.name = c.party
      WHERE parties.name IS NULL
      UNION ALL
     SELECT ${DESCRIPTOR_NAME} FROM event_group_metadata_descriptors d
       LEFT JOIN parties ON parties.name = d.provider WHERE parties.name IS NULL
      UNION ALL
     SELECT ${PRINCIPAL_NAME} FROM principals p LEFT JOIN parties ON parties.name = p.resource
      WHERE p.resource <> 'operator' AND parties.name IS NULL`,
  ),
  check(
    {
      id: 'update-before-create',
      meaning: 'Something was updated before it was created.',
      remedy: RESTORE,
    },
    `SELECT name FROM parties WHERE update_time < create_time
      UNION ALL
     SELECT ${MEASUREMENT_NAME} FROM measurements m WHERE update_time < create_time
      UNION ALL
     SELECT ${REQUISITION_NAME} FROM requisitions r WHERE update_time < create_time
      UNION ALL
     SELECT ${DESCRIPTOR_NAME} FROM event_group_metadata_descriptors d WHERE update_time < create_time`,
  ),
  check(
    {
      id: 'out-of-bounds',
      meaning: 'A name has characters, or a value a length, that the exchange would not accept.',
      remedy: 'It was stored past the exchange or before the bound was set: shorten or replace the value.',
    },
    `SELECT name FROM parties
      WHERE name !~ '^(measurementConsumers|dataProviders|duchies)/[A-Za-z0-9_-]{1,63}$' OR length(display_name) > 255
      UNION ALL
     SELECT ${PRINCIPAL_NAME} FROM principals p WHERE length(p.issuer) > 1000 OR length(p.subject) > 255
      UNION ALL
     SELECT ${CERTIFICATE_NAME} FROM certificates c WHERE ${malformed('c.id')} OR c.id IN ('-', 'preferred')
      UNION ALL
     SELECT ${MEASUREMENT_NAME} FROM measurements m
      WHERE ${malformed('m.id')} OR m.consumer NOT LIKE 'measurementConsumers/%' OR m.version < 1
         OR length(m.reference_id) > 255 OR length(m.request_id) NOT BETWEEN 1 AND 255
         OR length(m.failure_message) > 4000
      UNION ALL
     SELECT ${REQUISITION_NAME} FROM requisitions r
      WHERE ${malformed('r.id')} OR r.provider NOT LIKE 'dataProviders/%' OR r.version < 1
         OR octet_length(r.nonce_hash) <> 32 OR length(r.refusal_message) > 2000
         OR length(r.public_key_type) NOT BETWEEN 1 AND 512 OR length(r.spec_type_url) NOT BETWEEN 1 AND 512
         OR length(r.result_type_url) NOT BETWEEN 1 AND 512
      UNION ALL
     SELECT ${DESCRIPTOR_NAME} FROM event_group_metadata_descriptors d
      WHERE ${malformed('d.id')} OR d.provider NOT LIKE 'dataProviders/%' OR d.version < 1
         OR octet_length(d.descriptor_set) NOT BETWEEN 1 AND 1048576 OR length(d.request_id) NOT BETWEEN 1 AND 255`,
  ),
  check(
    {
      id: 'unknown-word',
      meaning: 'A state, reason, justification, type or protocol is not one that this version knows.',
      remedy: `Run the version that wrote it. ${RESTORE}`,
    },
    `SELECT name FROM parties WHERE state NOT IN ('ACTIVE', 'SUSPENDED') OR NOT protocols <@ $1::text[]
      UNION ALL
     SELECT ${CERTIFICATE_NAME} FROM certificates c WHERE c.revocation_state <> ALL($2::text[])
      UNION ALL
     SELECT ${MEASUREMENT_NAME} FROM measurements m
      WHERE m.protocol <> ALL($1::text[]) OR m.state <> ALL($3::text[]) OR m.failure_reason <> ALL($4::text[])
         OR m.measurement_type <> ALL($5::text[])
      UNION ALL
     SELECT ${REQUISITION_NAME} FROM requisitions r
      WHERE r.state <> ALL($6::text[]) OR r.refusal_justification <> ALL($7::text[])`,
    [
      PROTOCOLS,
      REVOCATION_STATES,
      MEASUREMENT_STATES,
      FAILURE_REASONS,
      MEASUREMENT_TYPES,
      REQUISITION_STATES,
      REFUSAL_JUSTIFICATIONS,
    ],
  ),
];
