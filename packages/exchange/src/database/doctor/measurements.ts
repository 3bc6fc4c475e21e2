/**
 * Checks that the states of a measurement and its requisitions are consistent, and that the fields match the states.
 */
import { TERMINAL_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { literals } from '../db.ts';
import { checks, NAME, RESTORE } from './check.ts';

/** One row per measurement, with counts of its requisitions. PostgreSQL skips the columns that a check does not use. */
const TALLY = `
  SELECT ${NAME.measurement} AS name, m.state, m.requisition_count AS declared, m.failure_reason,
         count(r.id) AS requisitions, count(DISTINCT r.provider) AS providers,
         count(DISTINCT r.ordinal) AS ordinals, min(r.ordinal) AS first, max(r.ordinal) AS last,
         count(*) FILTER (WHERE r.state = 'UNFULFILLED') AS unfulfilled,
         count(*) FILTER (WHERE r.state = 'FULFILLED') AS fulfilled,
         count(*) FILTER (WHERE r.state = 'REFUSED') AS refused,
         count(*) FILTER (WHERE r.state = 'WITHDRAWN') AS withdrawn,
         count(*) FILTER (WHERE r.state = 'REFUSED'
                            AND strpos(m.failure_message, r.refusal_justification) = 0) AS unnamed
    FROM measurements m LEFT JOIN requisitions r ON r.measurement = m.id
   GROUP BY m.id, m.consumer, m.state, m.requisition_count, m.failure_reason`;

function measurementsWhere(condition: string): string {
  return `SELECT name FROM (${TALLY}) AS tally WHERE ${condition}`;
}

function requisitionsWhere(condition: string): string {
  return `SELECT ${NAME.requisition} AS name FROM requisitions r WHERE ${condition}`;
}

/**
 * The database stores a nonce as the signed integer with the same 64 bits. This expression converts the stored integer
 * back to the unsigned nonce.
 */
const UNSIGNED_NONCE = `(CASE WHEN r.nonce < 0 THEN r.nonce::numeric + 18446744073709551616 ELSE r.nonce END)::text`;

const RESTORE_OR_CANCEL = `Cancel the measurement and create it again, or restore it. ${RESTORE}`;

export const measurementChecks = checks({
  'requisition-count': {
    meaning: 'A measurement has more or fewer requisitions than it was created with.',
    names: measurementsWhere('requisitions <> declared OR requisitions = 0'),
  },
  'requisition-duplicate': {
    meaning: 'A measurement has two requisitions for one data provider.',
    remedy: `${RESTORE} Then REINDEX INDEX requisitions_measurement_provider_key, which let it pass.`,
    names: measurementsWhere('requisitions <> providers'),
  },
  'requisition-order': {
    meaning:
      'The requisitions of a measurement are not numbered 0, 1, 2, …: reads show the measurement incompletely.',
    remedy: 'Set requisitions.ordinal to the position in the request, beginning at 0.',
    // Ordinals must start at 0, because queries read the measurement spec from the row with ordinal 0.
    names: measurementsWhere(
      'requisitions > 0 AND (first <> 0 OR last <> requisitions - 1 OR ordinals <> requisitions)',
    ),
  },
  'computed-unfulfilled': {
    meaning: 'A measurement is COMPUTING or SUCCEEDED though a requisition is not FULFILLED.',
    names: measurementsWhere(`state IN ('COMPUTING', 'SUCCEEDED') AND fulfilled < requisitions`),
  },
  'measurement-stuck': {
    meaning: 'A measurement awaits fulfillment though every requisition is FULFILLED: nothing will move it.',
    remedy: RESTORE_OR_CANCEL,
    names: measurementsWhere(
      `state = 'AWAITING_REQUISITION_FULFILLMENT' AND requisitions > 0 AND fulfilled = requisitions`,
    ),
  },
  'awaiting-closed': {
    meaning: 'A measurement awaits fulfillment though a requisition is REFUSED or WITHDRAWN.',
    remedy: RESTORE_OR_CANCEL,
    names: measurementsWhere(`state = 'AWAITING_REQUISITION_FULFILLMENT' AND refused + withdrawn > 0`),
  },
  'terminal-unfulfilled': {
    meaning: 'A measurement has ended but a requisition is still UNFULFILLED.',
    remedy: `Tell its data provider not to fulfill it. ${RESTORE}`,
    names: measurementsWhere(`state IN (${literals(TERMINAL_MEASUREMENT_STATES)}) AND unfulfilled > 0`),
  },
  'failure-presence': {
    meaning: 'A measurement is FAILED without saying why, or says why without being FAILED.',
    names: `SELECT ${NAME.measurement} AS name FROM measurements m
      WHERE (m.failure_reason IS NOT NULL) <> (m.state = 'FAILED')
         OR (m.failure_message IS NOT NULL) <> (m.state = 'FAILED')`,
  },
  'question-presence': {
    meaning: 'A measurement has a part of its encrypted question, but not the other part.',
    remedy: `Set question_ciphertext and question_type_url to NULL: its consumer can do without it. ${RESTORE}`,
    names: `SELECT ${NAME.measurement} AS name FROM measurements m
      WHERE (m.question_ciphertext IS NULL) <> (m.question_type_url IS NULL)`,
  },
  'result-presence': {
    meaning:
      'A requisition is FULFILLED without a whole result, or has one without being FULFILLED, or though its data went ' +
      'to a duchy.',
    names: requisitionsWhere(`num_nulls(r.result_certificate, r.result_ciphertext, r.result_type_url)
        <> CASE WHEN r.state = 'FULFILLED' AND r.fulfilling_duchy IS NULL THEN 0 ELSE 3 END
      OR (r.fulfillment_context IS NOT NULL AND r.state <> 'FULFILLED')`),
  },
  'nonce-presence': {
    meaning: 'A requisition is FULFILLED without a nonce, or shows one without being FULFILLED.',
    names: requisitionsWhere(`(r.nonce IS NOT NULL) <> (r.state = 'FULFILLED')`),
  },
  'nonce-hash': {
    meaning: 'The nonce of a FULFILLED requisition does not hash to its nonceHash.',
    remedy: `Do not trust its result. ${RESTORE}`,
    names: requisitionsWhere(`r.state = 'FULFILLED'
      AND r.nonce_hash NOT IN (sha256(int8send(r.nonce)), sha256(convert_to(${UNSIGNED_NONCE}, 'UTF8')))`),
  },
  'refusal-presence': {
    meaning: 'A requisition is REFUSED without a justification, or has a refusal without being REFUSED.',
    names: requisitionsWhere(`(r.refusal_justification IS NOT NULL) <> (r.state = 'REFUSED')
      OR (r.refusal_message IS NOT NULL AND r.state <> 'REFUSED')`),
  },
  'refused-twice': {
    meaning: 'A measurement has more than one REFUSED requisition, though the first refusal ends it.',
    names: measurementsWhere('refused > 1'),
  },
  'refusal-without-failure': {
    meaning: 'A requisition is REFUSED but its measurement has not FAILED for that reason.',
    remedy: RESTORE_OR_CANCEL,
    names: measurementsWhere(`refused > 0 AND failure_reason IS DISTINCT FROM 'REQUISITION_REFUSED'`),
  },
  'failure-without-refusal': {
    meaning: 'A measurement has FAILED because of a refusal, but none of its requisitions is REFUSED.',
    names: measurementsWhere(`failure_reason = 'REQUISITION_REFUSED' AND refused = 0`),
  },
  'failure-justification': {
    meaning: 'The failure message of a measurement does not name the justification of the refusal.',
    names: measurementsWhere(`failure_reason = 'REQUISITION_REFUSED' AND unnamed > 0`),
  },
});
