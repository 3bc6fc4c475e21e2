/** Rows of measurements and requisitions, as columns and as records. */
import type { Protocol } from '@measurement-exchange/contract';
import type { Aggregate, Fulfillment, MeasurementRecord, RequisitionRecord } from '../domain/measurement.ts';
import type { Row } from './db.ts';

/** Values of any length: as they are, or left out. */
type Long = (column: string) => string;
const whole: Long = (column) => column;
const leftOut: Long = () => `''::bytea`;

/** Columns of the measurement `m`; the long ones only beside its first requisition. */
const measurementColumns = (long: Long) => `
  m.id AS m_id, m.consumer, m.certificate AS m_certificate,
  CASE WHEN r.ordinal = 0 THEN ${long('m.spec_message')} END AS spec_message,
  CASE WHEN r.ordinal = 0 THEN ${long('m.spec_signature')} END AS spec_signature, m.spec_algorithm,
  m.reference_id, m.measurement_type, m.protocol, m.state AS m_state, m.failure_reason, m.failure_message,
  m.version AS m_version, m.create_time AS m_create_time, m.update_time AS m_update_time`;

const requisitionColumns = (long: Long) => `
  r.id, r.provider, r.certificate, r.public_key_type, ${long('r.public_key_data')} AS public_key_data,
  r.public_key_format, ${long('r.spec_ciphertext')} AS spec_ciphertext, r.spec_type_url, r.disclosed_nonce,
  r.nonce_hash, r.state, r.refusal_justification, r.refusal_message, r.nonce, r.result_certificate,
  ${long('r.result_ciphertext')} AS result_ciphertext, r.result_type_url, r.fulfillment_context, r.version,
  r.create_time, r.update_time`;

export const REQUISITION_COLUMNS = requisitionColumns(whole);
/** A measurement with its requisitions; without the values of any length in an outline. */
export const AGGREGATE = `SELECT ${measurementColumns(whole)}, ${REQUISITION_COLUMNS}`;
export const OUTLINE = `SELECT ${measurementColumns(leftOut)}, ${requisitionColumns(leftOut)}`;

/** The signed 64-bit integer of the same bytes. */
export function signed(nonce: bigint | undefined): bigint | undefined {
  return nonce === undefined ? undefined : BigInt.asIntN(64, nonce);
}

function unsigned(nonce: bigint | null): bigint | undefined {
  return nonce === null ? undefined : BigInt.asUintN(64, nonce);
}

/** Rows come ordered: one aggregate after the other, its requisitions in the order of the request. */
export function aggregates(rows: Row[]): Aggregate[] {
  const result: Aggregate[] = [];
  for (const row of rows) {
    let current = result.at(-1);
    if (current?.measurement.id !== row.m_id) {
      current = { measurement: measurementOf(row), requisitions: [] };
      result.push(current);
    }
    current!.requisitions.push(requisitionOf(row));
  }
  return result;
}

export function measurementOf(row: Row): MeasurementRecord {
  return {
    id: row.m_id,
    consumer: row.consumer,
    certificate: row.m_certificate,
    spec: {
      message: row.spec_message,
      signature: row.spec_signature,
      signatureAlgorithm: row.spec_algorithm ?? undefined,
    },
    referenceId: row.reference_id ?? undefined,
    measurementType: row.measurement_type ?? undefined,
    protocol: row.protocol as Protocol,
    state: row.m_state,
    failure:
      row.failure_reason === null ? undefined : { reason: row.failure_reason, message: row.failure_message },
    version: row.m_version,
    createTime: row.m_create_time,
    updateTime: row.m_update_time,
  };
}

export function requisitionOf(row: Row): RequisitionRecord {
  return {
    id: row.id,
    provider: row.provider,
    certificate: row.certificate,
    publicKey: {
      '@type': row.public_key_type,
      data: row.public_key_data,
      format: row.public_key_format ?? undefined,
    },
    encryptedSpec: {
      ciphertext: row.spec_ciphertext,
      typeUrl: row.spec_type_url,
      nonce: unsigned(row.disclosed_nonce),
    },
    nonceHash: row.nonce_hash,
    state: row.state,
    refusal:
      row.refusal_justification === null
        ? undefined
        : { justification: row.refusal_justification, message: row.refusal_message ?? undefined },
    fulfillment: row.nonce === null ? undefined : fulfillmentOf(row),
    version: row.version,
    createTime: row.create_time,
    updateTime: row.update_time,
  };
}

function fulfillmentOf(row: Row): Fulfillment {
  return {
    nonce: unsigned(row.nonce)!,
    certificate: row.result_certificate,
    encryptedResult: { ciphertext: row.result_ciphertext, typeUrl: row.result_type_url },
    context: row.fulfillment_context ?? undefined,
  };
}
