/** Test data: possible defects of measurements, requisitions and their log. */
import { EDGES } from '../../../src/domain/aggregate.ts';
import { TV } from './data.ts';
import { type Illness, measurement, past, radioRequisition, tvRequisition } from './illness.ts';

/**
 * Returns SQL that resets a requisition to its first version, or the measurement if `requisition` is empty. The SQL
 * also removes the later steps from the log.
 */
const undo = (id: string, requisition = '') => `
  DELETE FROM transitions WHERE measurement = '${id}' AND requisition = '${requisition}' AND version > 1;
  ${
    requisition === ''
      ? `UPDATE measurements SET state = 'AWAITING_REQUISITION_FULFILLMENT', version = 1,
           failure_reason = NULL, failure_message = NULL WHERE id = '${id}'`
      : `UPDATE requisitions SET state = 'UNFULFILLED', version = 1, nonce = NULL, result_certificate = NULL,
           result_ciphertext = NULL, result_type_url = NULL, fulfillment_context = NULL WHERE id = '${requisition}'`
  }`;

/** A step to CANCELLED that is allowed, but not as the first step of a measurement. */
const LATE = EDGES.find(
  ([, , from, to]) => to === 'CANCELLED' && from !== 'AWAITING_REQUISITION_FULFILLMENT',
)!;

export const MEASUREMENT_ILLNESSES: Illness[] = [
  [
    'a measurement with fewer requisitions than its requisition_count',
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
    'requisitions whose ordinals start at 1',
    `UPDATE requisitions SET ordinal = ordinal + 1 WHERE measurement = 'awaiting'`,
    'requisition-order',
    [measurement('awaiting')],
  ],
  [
    'a computing measurement with an unfulfilled requisition',
    undo('computing', 'computing-tv'),
    'computed-unfulfilled',
    [measurement('computing')],
  ],
  [
    'a measurement that awaits fulfillment although all requisitions are fulfilled',
    undo('succeeded'),
    'measurement-stuck',
    [measurement('succeeded')],
  ],
  [
    'a measurement that awaits fulfillment although its requisitions are withdrawn',
    undo('revoked'),
    'awaiting-closed',
    [measurement('revoked')],
  ],
  [
    'a cancelled measurement with an unfulfilled requisition',
    undo('cancelled', 'cancelled-radio'),
    'terminal-unfulfilled',
    [measurement('cancelled')],
  ],
  [
    'a failed measurement without a failure message, and a cancelled one with a failure reason',
    `UPDATE measurements SET failure_message = NULL WHERE id = 'revoked';
     UPDATE measurements SET failure_reason = 'CERTIFICATE_REVOKED' WHERE id = 'cancelled'`,
    'failure-presence',
    [measurement('cancelled'), measurement('revoked')],
  ],
  [
    'a question without a type URL, and a type URL without a question',
    `UPDATE measurements SET question_ciphertext = 'c' WHERE id = 'awaiting';
     UPDATE measurements SET question_type_url = 'type' WHERE id = 'succeeded'`,
    'question-presence',
    [measurement('awaiting'), measurement('succeeded')],
  ],
  [
    'a fulfilled requisition without its result, and an unfulfilled one with a fulfillment context',
    `UPDATE requisitions SET result_ciphertext = NULL WHERE id = 'succeeded-tv';
     UPDATE requisitions SET fulfillment_context = '{}' WHERE id = 'awaiting-tv'`,
    'result-presence',
    [tvRequisition('awaiting'), tvRequisition('succeeded')],
  ],
  [
    'a fulfilled requisition without its nonce, and an unfulfilled one with a nonce',
    `UPDATE requisitions SET nonce = NULL WHERE id = 'succeeded-tv';
     UPDATE requisitions SET nonce = 1 WHERE id = 'awaiting-tv'`,
    'nonce-presence',
    [tvRequisition('awaiting'), tvRequisition('succeeded')],
  ],
  [
    'nonces that do not match their hashes',
    `UPDATE requisitions SET nonce = nonce + 1 WHERE measurement = 'succeeded'`,
    'nonce-hash',
    [radioRequisition('succeeded'), tvRequisition('succeeded')],
  ],
  [
    'a refused requisition without a justification, and an unfulfilled one with a refusal message',
    `UPDATE requisitions SET refusal_justification = NULL WHERE id = 'refused-tv';
     UPDATE requisitions SET refusal_message = 'no' WHERE id = 'awaiting-tv'`,
    'refusal-presence',
    [tvRequisition('awaiting'), tvRequisition('refused')],
  ],
  [
    'a measurement with two refused requisitions',
    `UPDATE requisitions SET state = 'REFUSED', refusal_justification = 'DECLINED' WHERE id = 'refused-radio';
     UPDATE transitions SET to_state = 'REFUSED', cause = 'refused' WHERE requisition = 'refused-radio' AND version = 2`,
    'refused-twice',
    [measurement('refused')],
  ],
  [
    'a measurement with a refused requisition that failed for another reason',
    `UPDATE measurements SET failure_reason = 'CERTIFICATE_REVOKED' WHERE id = 'refused'`,
    'refusal-without-failure',
    [measurement('refused')],
  ],
  [
    'a measurement that failed with REQUISITION_REFUSED, but has no refused requisition',
    `UPDATE measurements SET failure_reason = 'REQUISITION_REFUSED' WHERE id = 'revoked'`,
    'failure-without-refusal',
    [measurement('revoked')],
  ],
  [
    'a failure message that does not name the justification of the refusal',
    `UPDATE measurements SET failure_message = 'SPEC_INVALID' WHERE id = 'refused'`,
    'failure-justification',
    [measurement('refused')],
  ],
  [
    'states that differ from the latest state in the transition log',
    `UPDATE measurements SET state = 'CANCELLED', failure_reason = NULL, failure_message = NULL WHERE id = 'revoked';
     UPDATE transitions SET to_state = 'REFUSED', cause = 'refused' WHERE requisition = 'revoked-tv' AND version = 2`,
    'log-state',
    [tvRequisition('revoked'), measurement('revoked')],
  ],
  [
    'a version without a transition, a gap in a transition log, and an empty transition log',
    `UPDATE measurements SET version = 3 WHERE id = 'cancelled';
     UPDATE transitions SET version = 3 WHERE requisition = 'revoked-tv' AND version = 2;
     DELETE FROM transitions WHERE requisition = 'awaiting-tv'`,
    'log-version',
    [tvRequisition('awaiting'), tvRequisition('revoked'), measurement('cancelled')],
  ],
  [
    'a transition of a measurement with a cause that only requisitions have',
    `UPDATE transitions SET cause = 'withdrawn' WHERE measurement = 'cancelled' AND requisition = '' AND version = 2`,
    'log-edge',
    [measurement('cancelled')],
  ],
  [
    'a transition out of a terminal state',
    `INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
       VALUES ('cancelled', '', 3, 'CANCELLED', 'FAILED', now(), 'actor', 'participantFailed', 'request');
     UPDATE measurements SET state = 'FAILED', version = 3, failure_reason = 'COMPUTATION_PARTICIPANT_FAILED',
       failure_message = 'message' WHERE id = 'cancelled'`,
    'log-edge',
    [measurement('cancelled')],
  ],
  [
    'a transition whose from_state differs from the to_state of the previous one',
    `UPDATE transitions SET cause = '${LATE[1]}', from_state = '${LATE[2]}'
      WHERE measurement = 'cancelled' AND requisition = '' AND version = 2`,
    'log-chain',
    [measurement('cancelled')],
  ],
  [
    'a creation that was logged after a later transition',
    `UPDATE transitions SET seq = DEFAULT WHERE requisition = 'cancelled-tv' AND version = 1`,
    'log-order',
    [tvRequisition('cancelled')],
  ],
  [
    'a transition that is dated before the creation',
    `UPDATE transitions SET time = '2025-01-01' WHERE requisition = 'cancelled-tv' AND version = 2`,
    'log-time',
    [tvRequisition('cancelled')],
  ],
];
