/** The tables of measurements, their requisitions and their participants, which are always read together. */

import { cell, object } from '@measurement-exchange/server/database';
import type {
  Aggregate,
  MeasurementRecord,
  ParticipantRecord,
  RequisitionRecord,
} from '../domain/aggregate.ts';
import { column, group, jsonReader, long, optional, optionalGroup, select, table } from './table.ts';

export const measurements = table<MeasurementRecord>('measurements', {
  id: column('id'),
  consumer: column('consumer'),
  certificate: column('certificate'),
  spec: group({
    message: long('spec_message'),
    signature: long('spec_signature'),
    signatureAlgorithm: optional('spec_algorithm'),
  }),
  labels: group({ measurementReferenceId: optional('reference_id') }),
  measurementType: optional('measurement_type'),
  protocol: column('protocol'),
  protocolConfig: optional('protocol_config', 'json'),
  state: column('state'),
  failure: optionalGroup('failure_reason', {
    reason: column('failure_reason'),
    message: column('failure_message'),
  }),
  result: optionalGroup('result_certificate', {
    duchy: column('result_duchy'),
    certificate: column('result_certificate'),
    encryptedResult: group({ ciphertext: long('result_ciphertext'), typeUrl: column('result_type_url') }),
  }),
  traceparent: optional('traceparent'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});

export const requisitions = table<RequisitionRecord>('requisitions', {
  id: column('id'),
  provider: column('provider'),
  certificate: column('certificate'),
  publicKey: group({
    '@type': column('public_key_type'),
    data: long('public_key_data'),
    format: optional('public_key_format'),
  }),
  encryptedSpec: group({
    ciphertext: long('spec_ciphertext'),
    typeUrl: column('spec_type_url'),
    nonce: optional('disclosed_nonce', 'uint64'),
  }),
  nonceHash: column('nonce_hash', 'bytes'),
  fulfillingDuchy: optional('fulfilling_duchy'),
  state: column('state'),
  refusal: optionalGroup('refusal_justification', {
    justification: column('refusal_justification'),
    message: optional('refusal_message'),
  }),
  deferral: optionalGroup('deferral_until', {
    reason: column('deferral_reason'),
    until: column('deferral_until', 'time'),
  }),
  fulfillment: optionalGroup('nonce', {
    nonce: column('nonce', 'uint64'),
    result: optionalGroup('result_certificate', {
      certificate: column('result_certificate'),
      encryptedResult: group({ ciphertext: long('result_ciphertext'), typeUrl: column('result_type_url') }),
    }),
    context: optional('fulfillment_context', 'json'),
  }),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});

/** One row for each participant, which also is its view of the computation. */
export const participants = table<ParticipantRecord>('computations', {
  duchy: column('duchy'),
  role: column('role'),
  state: column('participant_state'),
  parameters: optionalGroup('certificate', {
    certificate: column('certificate'),
    publicKey: optionalGroup('key_message', {
      message: column('key_message', 'bytes'),
      signature: column('key_signature', 'bytes'),
      signatureAlgorithm: optional('key_algorithm'),
    }),
    elGamalPublicKey: optionalGroup('elgamal_message', {
      message: column('elgamal_message', 'bytes'),
      signature: column('elgamal_signature', 'bytes'),
      signatureAlgorithm: optional('elgamal_algorithm'),
    }),
  }),
  version: column('version', 'int'),
  updateTime: column('update_time', 'time'),
});

/** A requisition with its measurement, and the rows of the participants as JSON; null where there are none. */
export interface JoinedRow {
  requisition: RequisitionRecord;
  measurement: MeasurementRecord;
  participants: object[] | null;
}

/** Reads a row of a requisition `r` joined with its measurement `m`. */
export const joined = object<JoinedRow>({
  requisition: requisitions.reader(),
  measurement: measurements.reader('m_'),
  participants: cell('participants'),
});

/** Of a measurement `m`. Within the statement, so that a direct one costs nothing more. */
export const PARTICIPANTS = `(SELECT json_agg(c ORDER BY c.role, c.duchy) FROM computations c WHERE c.id = m.id)`;
const readParticipant = jsonReader(participants);

export function readParticipants(row: JoinedRow): ParticipantRecord[] {
  return row.participants?.map(readParticipant) ?? [];
}

const leftOut = () => `''::bytea`;
const withoutResult = (value: string) => (value === 'm.result_ciphertext' ? leftOut() : value);

export const REQUISITION_WITH_MEASUREMENT = `SELECT ${select(requisitions, 'r')},
  ${select(measurements, 'm', 'm_', withoutResult)},
  CASE WHEN m.protocol <> 'direct' THEN ${PARTICIPANTS} END AS participants`;

/** Beside the first requisition of a measurement only. */
export const FIRST_PARTICIPANTS = `CASE WHEN m.protocol <> 'direct' AND r.ordinal = 0 THEN ${PARTICIPANTS} END AS participants`;
const first = (value: string) => `CASE WHEN r.ordinal = 0 THEN ${value} END`;

/** All requisitions of measurements: the long values of a measurement stand beside its first requisition only. */
export const AGGREGATE = `SELECT ${select(requisitions, 'r')}, ${select(measurements, 'm', 'm_', first)},
  ${FIRST_PARTICIPANTS}`;

const ofNamed = (value: string) => `CASE WHEN r.id = named.id THEN ${value} ELSE ${leftOut()} END`;

/** The same, with the long values of one requisition, `named`, only: who changes it neither reads nor writes the others'. */
export const AGGREGATE_OF_REQUISITION = `SELECT ${select(requisitions, 'r', '', ofNamed)},
  ${select(measurements, 'm', 'm_', first)}, ${FIRST_PARTICIPANTS}`;

/** The same, without long values. */
export const OUTLINE = `SELECT ${select(requisitions, 'r', '', leftOut)}, ${select(measurements, 'm', 'm_', leftOut)},
  ${FIRST_PARTICIPANTS}`;

/** The same, and the keys of the providers. */
export const EXPLAINED = `SELECT ${select(requisitions, 'r', '', (value) => (value === 'r.public_key_data' ? value : leftOut()))},
  ${select(measurements, 'm', 'm_', leftOut)}`;
/** The same, as duchies need it: of a requisition's spec they see the hash. */
const computation = (long: (value: string) => string) => `SELECT ${select(requisitions, 'r', '', leftOut)},
  sha256(r.spec_ciphertext) AS requisition_spec_hash, ${select(measurements, 'm', 'm_', long)}, ${FIRST_PARTICIPANTS}`;
export const COMPUTATION = computation(first);
/** Without the result. */
export const LISTED_COMPUTATION = computation((value) => first(withoutResult(value)));

/** Rows come ordered: one aggregate after the other, its requisitions in the order of the request. */
export function aggregates(rows: JoinedRow[]): Aggregate[] {
  const result: Aggregate[] = [];
  for (const row of rows) {
    const { measurement, requisition } = row;
    const current = result.at(-1);
    if (current?.measurement.id === measurement.id) current.requisitions.push(requisition);
    else result.push({ measurement, requisitions: [requisition], participants: readParticipants(row) });
  }
  return result;
}
