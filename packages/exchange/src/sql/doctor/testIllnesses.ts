/** For tests: what can be wrong with the rows of testData.ts, and what the doctor must say to it. */
import { BRAND, RADIO, TV } from './testData.ts';

const measurement = (id: string) => `${BRAND}/measurements/${id}`;
const tvRequisition = (id: string) => `${TV}/requisitions/${id}-tv`;
const radioRequisition = (id: string) => `${RADIO}/requisitions/${id}-radio`;
const descriptor = (id: string) => `${TV}/eventGroupMetadataDescriptors/${id}`;

/** The way of a damaged index: rows are stored that it does not hear of. */
const past = (index: string, change: string) => `
  UPDATE pg_index SET indisready = false WHERE indexrelid = '${index}'::regclass;
  ${change};
  UPDATE pg_index SET indisready = true WHERE indexrelid = '${index}'::regclass`;

/** Takes the last step of a measurement ('') or requisition back, in the log too. */
const undo = (id: string, requisition = '') => `
  DELETE FROM transitions WHERE measurement = '${id}' AND requisition = '${requisition}' AND version > 1;
  ${
    requisition === ''
      ? `UPDATE measurements SET state = 'AWAITING_REQUISITION_FULFILLMENT', version = 1,
           failure_reason = NULL, failure_message = NULL WHERE id = '${id}'`
      : `UPDATE requisitions SET state = 'UNFULFILLED', version = 1, nonce = NULL, result_certificate = NULL,
           result_ciphertext = NULL, result_type_url = NULL, fulfillment_context = NULL WHERE id = '${requisition}'`
  }`;

/** With triggers, foreign keys and CHECK constraints off; the one check that must speak, and what it names. */
export type Illness = [title: string, sql: string, check: string, examples: string[]];

export const ROW_ILLNESSES: Illness[] = [
  [
    'a measurement that lacks a requisition',
    `UPDATE measurements SET requisition_count = 3 WHERE id = 'awaiting'`,
    'requisition-count',
    [measurement('awaiting')],
  ],
  [
    'two requisitions for one data provider',
    past(
      'requisitions_measurement_provider_key',
      `UPDATE requisitions SET provider = '${TV}', certificate = 'tv-cert' WHERE id = 'awaiting-radio'`,
    ),
    'requisition-duplicate',
    [measurement('awaiting')],
  ],
  [
    'requisitions numbered from 1',
    `UPDATE requisitions SET ordinal = ordinal + 1 WHERE measurement = 'awaiting'`,
    'requisition-order',
    [measurement('awaiting')],
  ],
  [
    'a measurement that computes without a requisition',
    undo('computing', 'computing-tv'),
    'computed-unfulfilled',
    [measurement('computing')],
  ],
  [
    'a measurement that the last fulfilment did not move',
    undo('succeeded'),
    'measurement-stuck',
    [measurement('succeeded')],
  ],
  [
    'a measurement that awaits withdrawn requisitions',
    undo('revoked'),
    'awaiting-closed',
    [measurement('revoked')],
  ],
  [
    'a cancelled measurement with an open requisition',
    undo('cancelled', 'cancelled-radio'),
    'terminal-unfulfilled',
    [measurement('cancelled')],
  ],
  [
    'a failure without a message, and one of a measurement that did not fail',
    `UPDATE measurements SET failure_message = NULL WHERE id = 'revoked';
     UPDATE measurements SET failure_reason = 'CERTIFICATE_REVOKED' WHERE id = 'cancelled'`,
    'failure-presence',
    [measurement('cancelled'), measurement('revoked')],
  ],
  [
    'a result that is gone, and the context of one that never was',
    `UPDATE requisitions SET result_ciphertext = NULL WHERE id = 'succeeded-tv';
     UPDATE requisitions SET fulfillment_context = '{}' WHERE id = 'awaiting-tv'`,
    'result-presence',
    [tvRequisition('awaiting'), tvRequisition('succeeded')],
  ],
  [
    'a nonce that is gone, and one shown too early',
    `UPDATE requisitions SET nonce = NULL WHERE id = 'succeeded-tv';
     UPDATE requisitions SET nonce = 1 WHERE id = 'awaiting-tv'`,
    'nonce-presence',
    [tvRequisition('awaiting'), tvRequisition('succeeded')],
  ],
  [
    'nonces of another hash',
    `UPDATE requisitions SET nonce = nonce + 1 WHERE measurement = 'succeeded'`,
    'nonce-hash',
    [radioRequisition('succeeded'), tvRequisition('succeeded')],
  ],
  [
    'a refusal without a justification, and one of a requisition that nobody refused',
    `UPDATE requisitions SET refusal_justification = NULL WHERE id = 'refused-tv';
     UPDATE requisitions SET refusal_message = 'no' WHERE id = 'awaiting-tv'`,
    'refusal-presence',
    [tvRequisition('awaiting'), tvRequisition('refused')],
  ],
  [
    'a second refusal',
    `UPDATE requisitions SET state = 'REFUSED', refusal_justification = 'DECLINED' WHERE id = 'refused-radio';
     UPDATE transitions SET to_state = 'REFUSED', cause = 'refused' WHERE requisition = 'refused-radio' AND version = 2`,
    'refused-twice',
    [measurement('refused')],
  ],
  [
    'a refusal with a failure for another reason',
    `UPDATE measurements SET failure_reason = 'CERTIFICATE_REVOKED' WHERE id = 'refused'`,
    'refusal-without-failure',
    [measurement('refused')],
  ],
  [
    'a failure for a refusal that there is not',
    `UPDATE measurements SET failure_reason = 'REQUISITION_REFUSED' WHERE id = 'revoked'`,
    'failure-without-refusal',
    [measurement('revoked')],
  ],
  [
    'a failure that does not name the justification',
    `UPDATE measurements SET failure_message = 'SPEC_INVALID' WHERE id = 'refused'`,
    'failure-justification',
    [measurement('refused')],
  ],
  [
    'states that the log does not lead to',
    `UPDATE measurements SET state = 'CANCELLED', failure_reason = NULL, failure_message = NULL WHERE id = 'revoked';
     UPDATE transitions SET to_state = 'REFUSED', cause = 'refused' WHERE requisition = 'revoked-tv' AND version = 2`,
    'log-state',
    [tvRequisition('revoked'), measurement('revoked')],
  ],
  [
    'a version that was not logged, a log with a gap, and no log at all',
    `UPDATE measurements SET version = 3 WHERE id = 'cancelled';
     UPDATE transitions SET version = 3 WHERE requisition = 'revoked-tv' AND version = 2;
     DELETE FROM transitions WHERE requisition = 'awaiting-tv'`,
    'log-version',
    [tvRequisition('awaiting'), tvRequisition('revoked'), measurement('cancelled')],
  ],
  [
    "a step of a measurement that is a requisition's",
    `UPDATE transitions SET cause = 'withdrawn' WHERE measurement = 'cancelled' AND requisition = '' AND version = 2`,
    'log-edge',
    [measurement('cancelled')],
  ],
  [
    'a step out of a terminal state',
    `INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
       VALUES ('cancelled', '', 3, 'CANCELLED', 'FAILED', now(), 'actor', 'participantFailed', 'request');
     UPDATE measurements SET state = 'FAILED', version = 3, failure_reason = 'COMPUTATION_PARTICIPANT_FAILED',
       failure_message = 'message' WHERE id = 'cancelled'`,
    'log-edge',
    [measurement('cancelled')],
  ],
  [
    'a step from where the one before it did not end',
    `UPDATE transitions SET from_state = 'COMPUTING' WHERE measurement = 'cancelled' AND cause = 'cancelled'`,
    'log-chain',
    [measurement('cancelled')],
  ],
  [
    'a creation logged last',
    `UPDATE transitions SET seq = DEFAULT WHERE requisition = 'cancelled-tv' AND version = 1`,
    'log-order',
    [tvRequisition('cancelled')],
  ],
  [
    'a step before the creation',
    `UPDATE transitions SET time = '2025-01-01' WHERE requisition = 'cancelled-tv' AND version = 2`,
    'log-time',
    [tvRequisition('cancelled')],
  ],
  [
    'versions of descriptors that nobody is known to have made',
    `DELETE FROM audit_entries WHERE version = 1 AND name = '${descriptor('films')}'
         OR version = 2 AND name = '${descriptor('shows')}'`,
    'audit-missing',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'audit entries without a version, without a descriptor, and said twice',
    `INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
     SELECT now(), 'principal', 'operation', name, version, 'request'
       FROM (VALUES ('${descriptor('films')}', 3), ('${descriptor('none')}', 1), ('${descriptor('shows')}', 1))
         AS entry(name, version)`,
    'audit-unmatched',
    [descriptor('films'), descriptor('none'), descriptor('shows')],
  ],
  [
    'two measurements of one requestId',
    past(
      'measurements_request_id',
      `UPDATE measurements SET request_id = 'awaiting-request' WHERE id = 'succeeded'`,
    ),
    'request-id-duplicate',
    [measurement('awaiting'), measurement('succeeded')],
  ],
  [
    'two descriptors of one requestId',
    past(
      'descriptors_request_id',
      `UPDATE event_group_metadata_descriptors SET request_id = 'films-request'`,
    ),
    'request-id-duplicate',
    [descriptor('films'), descriptor('shows')],
  ],
  [
    'requestIds whose content is not known',
    `UPDATE measurements SET request_hash = NULL WHERE id = 'awaiting';
     UPDATE event_group_metadata_descriptors SET request_hash = 'short' WHERE id = 'films'`,
    'request-hash',
    [descriptor('films'), measurement('awaiting')],
  ],
  [
    "certificates that are another's",
    `UPDATE measurements SET certificate = 'tv-cert' WHERE id = 'awaiting';
     UPDATE requisitions SET certificate = 'brand-cert' WHERE id = 'awaiting-tv';
     UPDATE requisitions SET result_certificate = 'radio-cert' WHERE id = 'succeeded-tv';
     UPDATE parties SET public_key_certificate = '${TV}/certificates/tv-cert' WHERE name = '${RADIO}'`,
    'certificate-owner',
    [RADIO, tvRequisition('awaiting'), tvRequisition('succeeded'), measurement('awaiting')],
  ],
  [
    'requisitions and transitions of no measurement',
    `DELETE FROM measurements WHERE id = 'awaiting'`,
    'orphan',
    [radioRequisition('awaiting'), tvRequisition('awaiting'), 'transition of awaiting'],
  ],
  [
    'a transition of no requisition of its measurement',
    `INSERT INTO transitions (measurement, requisition, version, to_state, time, actor, cause, request_id)
       VALUES ('awaiting', 'cancelled-tv', 1, 'UNFULFILLED', now(), 'actor', 'created', 'request')`,
    'orphan',
    ['transition of awaiting cancelled-tv'],
  ],
  [
    'a certificate, a descriptor and a principal of nobody',
    `INSERT INTO certificates SELECT 'dataProviders/none', 'cert', 'der', 'ski', now(), now(), NULL, now();
     INSERT INTO principals VALUES ('issuer', 'subject', 'dataProviders/none', now());
     UPDATE event_group_metadata_descriptors SET provider = 'dataProviders/none' WHERE id = 'films';
     UPDATE audit_entries SET name = 'dataProviders/none/eventGroupMetadataDescriptors/films' WHERE name LIKE '%/films'`,
    'orphan',
    [
      'dataProviders/none/certificates/cert',
      'dataProviders/none/eventGroupMetadataDescriptors/films',
      'principal subject of issuer',
    ],
  ],
  [
    'updates before the creation',
    `UPDATE parties SET update_time = create_time - interval '1 microsecond' WHERE name = '${TV}';
     UPDATE measurements SET update_time = create_time - interval '1 microsecond' WHERE id = 'awaiting';
     UPDATE requisitions SET update_time = create_time - interval '1 microsecond' WHERE id = 'awaiting-tv';
     UPDATE event_group_metadata_descriptors SET update_time = create_time - interval '1 microsecond' WHERE id = 'films'`,
    'update-before-create',
    [TV, descriptor('films'), tvRequisition('awaiting'), measurement('awaiting')],
  ],
  [
    'ids with a dot',
    `UPDATE parties SET name = 'dataProviders/t.v' WHERE name = '${TV}';
     UPDATE parties SET public_key_certificate = 'dataProviders/t.v/certificates/tv-cert' WHERE name = 'dataProviders/t.v';
     UPDATE certificates SET party = 'dataProviders/t.v' WHERE party = '${TV}';
     UPDATE requisitions SET provider = 'dataProviders/t.v' WHERE provider = '${TV}';
     UPDATE event_group_metadata_descriptors SET provider = 'dataProviders/t.v';
     UPDATE audit_entries SET name = replace(name, '${TV}', 'dataProviders/t.v');
     UPDATE measurements SET id = 'a.b' WHERE id = 'awaiting';
     UPDATE requisitions SET measurement = 'a.b' WHERE measurement = 'awaiting';
     UPDATE transitions SET measurement = 'a.b' WHERE measurement = 'awaiting'`,
    'out-of-bounds',
    ['dataProviders/t.v', measurement('a.b')],
  ],
  [
    'values that are too long',
    `UPDATE measurements SET reference_id = repeat('x', 256) WHERE id = 'awaiting';
     UPDATE requisitions SET refusal_message = repeat('x', 2001) WHERE id = 'refused-tv';
     UPDATE event_group_metadata_descriptors SET descriptor_set = '' WHERE id = 'films';
     INSERT INTO principals VALUES ('issuer', repeat('x', 256), 'operator', now());
     INSERT INTO certificates SELECT '${TV}', 'preferred', 'der', 'ski', now(), now(), NULL, now()`,
    'out-of-bounds',
    [
      `${TV}/certificates/preferred`,
      descriptor('films'),
      tvRequisition('refused'),
      measurement('awaiting'),
      `principal ${'x'.repeat(256)} of issuer`,
    ],
  ],
  [
    'words that this version does not know',
    `UPDATE parties SET protocols = '{guesswork}' WHERE name = '${TV}';
     UPDATE certificates SET revocation_state = 'LOST' WHERE party = '${TV}';
     UPDATE measurements SET failure_reason = 'BAD_LUCK' WHERE id = 'revoked';
     UPDATE measurements SET protocol = 'guesswork' WHERE id = 'awaiting'`,
    'unknown-word',
    [TV, `${TV}/certificates/tv-cert`, measurement('awaiting'), measurement('revoked')],
  ],
];
