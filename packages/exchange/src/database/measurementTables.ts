/**
 * Maps the tables of measurements, requisitions, and participants to records. A statement reads only the long fields
 * that its callers need. Its record type omits the other long fields.
 */
import { cell, object, type Reader } from '@measurement-exchange/server/database';
import type {
  AggregateOf,
  MeasurementOutline,
  MeasurementRecord,
  MeasurementWithResult,
  MeasurementWithSpec,
  ParticipantRecord,
  RequisitionContent,
  RequisitionOutline,
  RequisitionRecord,
  RequisitionWithContent,
} from '../domain/aggregate.ts';
import type { RequisitionWithKey } from '../domain/explain/facts.ts';
import {
  column,
  type Fields,
  group,
  jsonReader,
  long,
  optional,
  optionalGroup,
  select,
  type Table,
  table,
} from './table.ts';

const encryptedResult = group<{ ciphertext: Uint8Array; typeUrl: string }>({
  ciphertext: long('result_ciphertext'),
  typeUrl: column('result_type_url'),
});
const computationResult = {
  duchy: column<string>('result_duchy'),
  certificate: column<string>('result_certificate'),
};

const measurementOutline: Fields<MeasurementOutline> = {
  id: column('id'),
  consumer: column('consumer'),
  certificate: column('certificate'),
  labels: group({ measurementReferenceId: optional('reference_id') }),
  measurementType: optional('measurement_type'),
  protocol: column('protocol'),
  protocolConfig: optional('protocol_config', 'json'),
  state: column('state'),
  failure: optionalGroup('failure_reason', {
    reason: column('failure_reason'),
    message: column('failure_message'),
  }),
  result: optionalGroup('result_certificate', computationResult),
  traceparent: optional('traceparent'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
};
const measurementWithSpec: Fields<MeasurementWithSpec> = {
  ...measurementOutline,
  spec: group({
    message: long('spec_message'),
    signature: long('spec_signature'),
    signatureAlgorithm: optional('spec_algorithm'),
  }),
};
const measurementOutlines = table<MeasurementOutline>('measurements', measurementOutline);
const measurementsWithSpec = table<MeasurementWithSpec>('measurements', measurementWithSpec);
const measurementWithResult: Fields<MeasurementWithResult> = {
  ...measurementWithSpec,
  result: optionalGroup('result_certificate', { ...computationResult, encryptedResult }),
};
const measurementsWithResult = table<MeasurementWithResult>('measurements', measurementWithResult);
export const measurements = table<MeasurementRecord>('measurements', {
  ...measurementWithResult,
  question: optionalGroup('question_type_url', {
    ciphertext: long('question_ciphertext'),
    typeUrl: column('question_type_url'),
  }),
});

const directResult = { certificate: column<string>('result_certificate') };
const fulfillment = {
  nonce: column<bigint>('nonce', 'uint64'),
  context: optional<object>('fulfillment_context', 'json'),
};
const publicKey: Fields<RequisitionContent['publicKey']> = {
  '@type': column('public_key_type'),
  data: long('public_key_data'),
  format: optional('public_key_format'),
};
const encryptedSpec: Fields<RequisitionContent['encryptedSpec']> = {
  ciphertext: long('spec_ciphertext'),
  typeUrl: column('spec_type_url'),
  nonce: optional('disclosed_nonce', 'uint64'),
};

const requisitionOutline: Fields<RequisitionOutline> = {
  id: column('id'),
  provider: column('provider'),
  certificate: column('certificate'),
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
    ...fulfillment,
    result: optionalGroup('result_certificate', directResult),
  }),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
};
const requisitionWithContent: Fields<RequisitionWithContent> = {
  ...requisitionOutline,
  publicKey: group(publicKey),
  encryptedSpec: group(encryptedSpec),
};
const requisitionOutlines = table<RequisitionOutline>('requisitions', requisitionOutline);
const requisitionsWithContent = table<RequisitionWithContent>('requisitions', requisitionWithContent);
export const requisitions = table<RequisitionRecord>('requisitions', {
  ...requisitionWithContent,
  fulfillment: optionalGroup('nonce', {
    ...fulfillment,
    result: optionalGroup('result_certificate', { ...directResult, encryptedResult }),
  }),
});
const requisitionsWithKey = table<RequisitionWithKey>('requisitions', {
  ...requisitionOutline,
  publicKey: group(publicKey),
});

export type NamedRequisition = RequisitionOutline & { content: RequisitionContent | undefined };
const namedRequisitions = table<NamedRequisition>('requisitions', {
  ...requisitionOutline,
  content: optionalGroup('spec_ciphertext', {
    publicKey: group(publicKey),
    encryptedSpec: group(encryptedSpec),
  }),
});

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

export interface JoinedRow<M, R> {
  requisition: R;
  measurement: M;
  participants: object[] | null;
}

/**
 * Selects the participants of measurement `m`. Skips the subquery for a direct measurement, which has no participants.
 */
const PARTICIPANTS = `CASE WHEN m.protocol <> 'direct' THEN
  (SELECT json_agg(c ORDER BY c.role, c.duchy) FROM computations c WHERE c.id = m.id) END AS participants`;
const FIRST_PARTICIPANTS = PARTICIPANTS.replace('THEN', 'AND r.ordinal = 0 THEN');

export interface Join<M, R> {
  select: string;
  reader: Reader<JoinedRow<M, R>>;
}

type Print = (column: string) => string;

/**
 * Returns the SELECT list and the row reader for requisitions joined with their measurement. The functions in `long`
 * generate the SQL of long columns. By default, long columns are selected unchanged.
 */
function join<M, R>(
  ofMeasurement: Table<M>,
  ofRequisition: Table<R>,
  long: { measurement?: Print; requisition?: Print } = {},
  participants = FIRST_PARTICIPANTS,
): Join<M, R> {
  return {
    select: `SELECT ${select(ofRequisition, 'r', '', long.requisition)}, ${select(ofMeasurement, 'm', 'm_', long.measurement)},
      ${participants}`,
    reader: object({
      requisition: ofRequisition.reader(),
      measurement: ofMeasurement.reader('m_'),
      participants: cell('participants'),
    }),
  };
}

const readParticipant = jsonReader(participants);

export function readParticipants({ participants }: JoinedRow<unknown, unknown>): ParticipantRecord[] {
  return participants?.map(readParticipant) ?? [];
}

/** Selects a measurement's long columns only in the row of its first requisition, so that each value is sent once. */
const first: Print = (column) => `CASE WHEN r.ordinal = 0 THEN ${column} END`;
const ofNamed: Print = (column) => `CASE WHEN r.id = named.id THEN ${column} END`;

export const REQUISITION = join(measurementsWithSpec, requisitionsWithContent, {}, PARTICIPANTS);
export const AGGREGATE = join(measurements, requisitions, { measurement: first });
/**
 * Loads the content of only one requisition, which the statement must join as `named`. A change to this requisition
 * does not need the content of the other requisitions.
 */
export const NAMED_REQUISITION = join(measurementsWithSpec, namedRequisitions, {
  measurement: first,
  requisition: ofNamed,
});
export const OUTLINE = join(measurementOutlines, requisitionOutlines);
/** Reads a measurement with all requisitions, to explain the measurement to its consumer or to a duchy. */
export const EXPLAINED = join(measurementOutlines, requisitionsWithKey);
/**
 * Reads one requisition, for an explanation to its provider, which may see only this requisition. The row includes the
 * participants even if the requisition is not the first one of its measurement.
 */
export const EXPLAINED_REQUISITION = join(measurementOutlines, requisitionsWithKey, {}, PARTICIPANTS);
/** A measurement as its duchies read it. Lists use LISTED_COMPUTATION, which omits the result. */
export const COMPUTATION = join(measurementsWithResult, requisitionOutlines, { measurement: first });
export const LISTED_COMPUTATION = join(measurementsWithSpec, requisitionOutlines, { measurement: first });

/** Groups rows into measurements. The rows of a measurement must be adjacent, in the order of its requisitions. */
export function aggregates<M extends MeasurementOutline, R extends RequisitionOutline>(
  rows: JoinedRow<M, R>[],
): AggregateOf<M, R>[] {
  const result: AggregateOf<M, R>[] = [];
  for (const row of rows) {
    const { measurement, requisition } = row;
    const current = result.at(-1);
    if (current?.measurement.id === measurement.id) current.requisitions.push(requisition);
    else result.push({ measurement, requisitions: [requisition], participants: readParticipants(row) });
  }
  return result;
}
