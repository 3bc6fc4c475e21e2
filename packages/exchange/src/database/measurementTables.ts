/** The tables of measurements and their requisitions, which are always read together. */
import type { Aggregate, MeasurementRecord, RequisitionRecord } from '../domain/aggregate.ts';
import { object } from './roundTrip.ts';
import { column, group, long, optional, optionalGroup, select, table } from './table.ts';

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
  state: column('state'),
  refusal: optionalGroup('refusal_justification', {
    justification: column('refusal_justification'),
    message: optional('refusal_message'),
  }),
  fulfillment: optionalGroup('nonce', {
    nonce: column('nonce', 'uint64'),
    certificate: column('result_certificate'),
    encryptedResult: group({ ciphertext: long('result_ciphertext'), typeUrl: column('result_type_url') }),
    context: optional('fulfillment_context', 'json'),
  }),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});

export interface RequisitionWithMeasurement {
  requisition: RequisitionRecord;
  measurement: MeasurementRecord;
}

/** Reads a row of a requisition `r` joined with its measurement `m`. */
export const joined = object<RequisitionWithMeasurement>({
  requisition: requisitions.reader(),
  measurement: measurements.reader('m_'),
});

export const REQUISITION_WITH_MEASUREMENT = `SELECT ${select(requisitions, 'r')}, ${select(measurements, 'm', 'm_')}`;

/** All requisitions of measurements: the long values of a measurement stand beside its first requisition only. */
export const AGGREGATE = `SELECT ${select(requisitions, 'r')},
  ${select(measurements, 'm', 'm_', (value) => `CASE WHEN r.ordinal = 0 THEN ${value} END`)}`;

const leftOut = () => `''::bytea`;
/** The same, without long values. */
export const OUTLINE = `SELECT ${select(requisitions, 'r', '', leftOut)}, ${select(measurements, 'm', 'm_', leftOut)}`;

/** Rows come ordered: one aggregate after the other, its requisitions in the order of the request. */
export function aggregates(rows: RequisitionWithMeasurement[]): Aggregate[] {
  const result: Aggregate[] = [];
  for (const { measurement, requisition } of rows) {
    const current = result.at(-1);
    if (current?.measurement.id === measurement.id) current.requisitions.push(requisition);
    else result.push({ measurement, requisitions: [requisition] });
  }
  return result;
}
