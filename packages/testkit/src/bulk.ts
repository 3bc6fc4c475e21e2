/** Writes thousands of resources per second with SQL. The rows have the form in which the exchange writes them. */

import { type Trigger, target } from '@measurement-exchange/exchange/internal/domain/aggregate';
import { messageTypesOf } from '@measurement-exchange/exchange/internal/protobuf/descriptor/descriptorSet';
import pg from 'pg';
import type { Database } from './exchange.ts';

/** A measurement consumer or a data provider. `name` and `certificate` are full resource names. */
export interface BulkParty {
  name: string;
  certificate: string;
}

/**
 * The createTime of the resources numbered 0 to 9. Each following group of ten resources has a createTime that is one
 * microsecond later.
 */
export const BULK_START = '2026-01-01T00:00:00.000000Z';
const CREATED = `('${BULK_START}'::timestamptz + i / 10 * interval '1 microsecond')`;

/** For each state that `loadMeasurements` writes, the causes of the transitions that lead to the state, in order. */
const PATHS = {
  measurement: {
    AWAITING_REQUISITION_FULFILLMENT: ['created'],
    SUCCEEDED: ['created', 'allFulfilled', 'computed'],
    FAILED: ['created', 'refused'],
    CANCELLED: ['created', 'cancelled'],
  },
  requisition: {
    UNFULFILLED: ['created'],
    FULFILLED: ['created', 'fulfilled'],
    REFUSED: ['created', 'refused'],
    WITHDRAWN: ['created', 'withdrawn'],
  },
} as const satisfies Record<string, Record<string, Trigger[]>>;

const quote = pg.escapeLiteral;
const certificateId = (party: BulkParty) => quote(party.certificate.split('/').at(-1)!);

/**
 * Returns an SQL VALUES list with one row of (state, version, from, to, cause) for each transition in PATHS. `state` is
 * the key in PATHS, which is the state after the last transition of the path.
 */
function steps(): string {
  const rows = (['measurement', 'requisition'] as const).flatMap((resource) =>
    Object.entries<readonly Trigger[]>(PATHS[resource]).flatMap(([state, path]) => {
      let from: string | undefined;
      return path.map((cause, i) => {
        const to = target(resource, cause, from)!;
        const row = `('${state}', ${i + 1}, ${from === undefined ? 'NULL' : `'${from}'`}, '${to}', '${cause}')`;
        from = to;
        return row;
      });
    }),
  );
  return `VALUES ${rows.join(', ')}`;
}

/**
 * Writes measurements numbered from `first` (default 0). The state depends on the number. Measurements 0 to 65 await
 * their requisitions, the next 22 succeeded, the next 11 failed, and the next 11 were cancelled. The states repeat
 * after each 110 numbers. Measurements whose number is divisible by 100 have a requisition for each provider. The
 * others have a requisition only for the first provider. Each requisition's nonce is the number of its measurement.
 */
export async function loadMeasurements(
  database: Database,
  bulk: { consumer: BulkParty; providers: BulkParty[]; count: number; first?: number },
): Promise<void> {
  const { consumer, providers, count, first = 0 } = bulk;
  const parts = providers.map((p, ordinal) => `(${ordinal}, ${quote(p.name)}, ${certificateId(p)})`);
  // Send all statements as one query without parameters, because PostgreSQL runs such a query as one transaction.
  // Measurements and their requisitions must be written together.
  await database.query(`
    CREATE TEMPORARY TABLE bulk ON COMMIT DROP AS
    SELECT i, 'm' || md5(i::text) AS id, state, first_state, other_state, version, ${CREATED} AS created,
           ${CREATED} + CASE WHEN version > 1 THEN 2 + i % 97 ELSE 0 END * interval '1 microsecond' AS updated,
           CASE WHEN i % 100 = 0 THEN ${parts.length} ELSE 1 END AS requisitions
      FROM generate_series(${first}, ${first + count - 1}) AS i JOIN (VALUES
             (0, 1, 'AWAITING_REQUISITION_FULFILLMENT', 'UNFULFILLED', 'UNFULFILLED'),
             (6, 3, 'SUCCEEDED', 'FULFILLED', 'FULFILLED'),
             (8, 2, 'FAILED', 'REFUSED', 'WITHDRAWN'),
             (9, 2, 'CANCELLED', 'WITHDRAWN', 'WITHDRAWN')
           ) AS fate(tenth, version, state, first_state, other_state)
        ON tenth = CASE WHEN i / 11 % 10 < 6 THEN 0 WHEN i / 11 % 10 < 8 THEN 6 ELSE i / 11 % 10 END;

    CREATE TEMPORARY TABLE bulk_requisitions ON COMMIT DROP AS
    SELECT 'r' || md5(i || ' ' || ordinal) AS id, bulk.id AS measurement, ordinal, provider, certificate,
           i::bigint AS nonce, CASE ordinal WHEN 0 THEN first_state ELSE other_state END AS state,
           least(version, 2) AS version, created, updated
      FROM bulk JOIN (VALUES ${parts.join(', ')}) AS part(ordinal, provider, certificate) ON ordinal < requisitions;

    INSERT INTO measurements (id, consumer, certificate, spec_message, spec_signature, spec_algorithm,
           measurement_type, protocol, state, failure_reason, failure_message, requisition_count, version,
           create_time, update_time)
    SELECT id, ${quote(consumer.name)}, ${certificateId(consumer)}, '\\x0a', '\\x30', 'ECDSA_P256_SHA256',
           'REACH', 'direct', state, CASE WHEN state = 'FAILED' THEN 'REQUISITION_REFUSED' END,
           CASE WHEN state = 'FAILED' THEN 'DECLINED' END, requisitions, version, created, updated
      FROM bulk;

    INSERT INTO requisitions (id, provider, measurement, ordinal, certificate, public_key_type, public_key_data,
           spec_ciphertext, spec_type_url, nonce_hash, state, refusal_justification, nonce, result_certificate,
           result_ciphertext, result_type_url, version, create_time, update_time)
    SELECT id, provider, measurement, ordinal, certificate, 'key', '\\x0b', '\\x0c', 'spec',
           sha256(int8send(nonce)), state, CASE WHEN state = 'REFUSED' THEN 'DECLINED' END,
           CASE WHEN state = 'FULFILLED' THEN nonce END, CASE WHEN state = 'FULFILLED' THEN certificate END,
           CASE WHEN state = 'FULFILLED' THEN '\\x0d'::bytea END, CASE WHEN state = 'FULFILLED' THEN 'result' END,
           version, created, updated
      FROM bulk_requisitions;

    INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
    SELECT measurement, requisition, step.version, from_state, to_state,
           CASE step.version WHEN 1 THEN created ELSE updated - (last - step.version) * interval '1 microsecond' END,
           ${quote(consumer.name)}, cause, 'bulk'
      FROM (SELECT id AS measurement, '' AS requisition, state, version AS last, created, updated FROM bulk
             UNION ALL
            SELECT measurement, id, state, version, created, updated FROM bulk_requisitions) AS logged
      JOIN (${steps()}) AS step(state, version, from_state, to_state, cause) USING (state)
     ORDER BY step.version;`);
}

/**
 * Changes a measurement that awaits its requisitions as if duchies had to compute it. All requisitions are fulfilled
 * one microsecond after the measurement was created, and nothing is computed yet. The requisitions must have been
 * created with the nonces 1, 2 and so on in their order, because this function writes these nonces.
 */
export async function makeComputing(database: Database, id: string): Promise<void> {
  const updated = `update_time = create_time + interval '1 microsecond'`;
  await database.query(`
    BEGIN;
    UPDATE requisitions SET state = 'FULFILLED', version = 2, nonce = ordinal + 1, result_certificate = certificate,
           result_ciphertext = 'x', result_type_url = 'x', ${updated} WHERE measurement = ${quote(id)};
    UPDATE measurements SET state = 'COMPUTING', version = 2, ${updated} WHERE id = ${quote(id)};
    INSERT INTO transitions (measurement, requisition, version, from_state, to_state, time, actor, cause, request_id)
    SELECT measurement, id, 2, 'UNFULFILLED', 'FULFILLED', update_time, 'test', 'fulfilled', 'test'
      FROM requisitions WHERE measurement = ${quote(id)}
     UNION ALL
    SELECT id, '', 2, 'AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING', update_time, 'test', 'allFulfilled', 'test'
      FROM measurements WHERE id = ${quote(id)};
    ${logChanges(`= ${quote(id)}`)}
    COMMIT`);
}

/**
 * Returns SQL that adds the transitions of some measurements and of their requisitions to the log of changes. The SQL
 * omits the transitions that created these resources. `those` is the end of an SQL condition that selects the
 * measurements by ID, such as `= 'm1'`.
 */
export function logChanges(those: string): string {
  return `
    INSERT INTO changes (party, name, kind, state, version, time)
    SELECT m.consumer, m.consumer || '/measurements/' || m.id, 'MEASUREMENT', t.to_state, t.version, t.time
      FROM transitions t JOIN measurements m ON m.id = t.measurement
     WHERE t.requisition = '' AND t.version > 1 AND m.id ${those}
     UNION ALL
    SELECT r.provider, r.provider || '/requisitions/' || r.id, 'REQUISITION', t.to_state, t.version, t.time
      FROM transitions t JOIN requisitions r ON r.id = t.requisition
     WHERE t.version > 1 AND t.measurement ${those}
     UNION ALL
    SELECT m.consumer, m.consumer || '/measurements/' || m.id || '/requisitions/' || t.requisition, 'REQUISITION',
           t.to_state, t.version, t.time
      FROM transitions t JOIN measurements m ON m.id = t.measurement
     WHERE t.requisition <> '' AND t.version > 1 AND m.id ${those}
     ORDER BY version;`;
}

/** Writes `count` descriptors that have the same descriptor set, and assigns them to the providers in turn. */
export async function loadDescriptors(
  database: Database,
  bulk: { providers: BulkParty[]; descriptorSet: Uint8Array; count: number; first?: number },
): Promise<void> {
  const { providers, descriptorSet, count, first = 0 } = bulk;
  const names = `ARRAY[${providers.map((p) => quote(p.name)).join(', ')}]`;
  const set = `'\\x${Buffer.from(descriptorSet).toString('hex')}'`;
  const types = messageTypesOf(descriptorSet).map(quote);
  await database.query(`
    WITH loaded AS (
      INSERT INTO event_group_metadata_descriptors (id, provider, descriptor_set, version, create_time, update_time)
      SELECT 'd' || md5(i::text), (${names})[1 + i % ${providers.length}], ${set}, 1, ${CREATED}, ${CREATED}
        FROM generate_series(${first}, ${first + count - 1}) AS i RETURNING id, provider, create_time
    ), types AS (
      INSERT INTO descriptor_types (descriptor, type_name, provider)
      SELECT id, type_name, provider FROM loaded CROSS JOIN unnest(ARRAY[${types.join(', ')}]::text[]) AS type_name
    )
    INSERT INTO audit_entries (time, principal, operation, name, version, request_id)
    SELECT create_time, provider, 'createEventGroupMetadataDescriptor',
           provider || '/eventGroupMetadataDescriptors/' || id, 1, 'bulk' FROM loaded`);
}
