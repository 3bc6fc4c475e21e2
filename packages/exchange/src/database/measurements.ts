/** Reads and locks measurements together with their requisitions and participants. */
import { PENDING_MEASUREMENT_STATES, type Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type { Aggregate, AggregateOf, MeasurementWithSpec, Outline } from '../domain/aggregate.ts';
import { literals, lookup, type Queryable, sql, type Transaction } from './db.ts';
import {
  AGGREGATE,
  aggregates,
  NAMED_REQUISITION,
  type NamedRequisition,
  OUTLINE,
} from './measurementTables.ts';
import { type Cursor, longPageText, type Page, pageOf, pageRow } from './page.ts';
import { lockAndRead, read } from './run.ts';

/**
 * The approximate size of a measurement in a response, in bytes. PostgreSQL knows the length of a long (TOASTed) value
 * without reading the value.
 */
const SIZE = `
  (SELECT 2000 + (octet_length(m.spec_message) + octet_length(m.spec_signature)
          + coalesce(octet_length(m.failure_message), 0) + coalesce(octet_length(m.result_ciphertext), 0)
          + coalesce(octet_length(m.question_ciphertext), 0) + sum(1000 + octet_length(s.spec_ciphertext)
          + octet_length(s.public_key_data) + coalesce(octet_length(s.result_ciphertext), 0))) * 4 / 3
     FROM requisitions s WHERE s.measurement = m.id)`;

const GET = lookup(
  'measurement_get',
  `${AGGREGATE.select} FROM measurements m JOIN requisitions r ON r.measurement = m.id
    WHERE m.consumer = $1 AND m.id = $2 ORDER BY r.ordinal`,
  AGGREGATE.reader,
);

export async function getMeasurement(
  db: Queryable,
  consumer: string,
  id: string,
): Promise<Aggregate | undefined> {
  return aggregates(await db.query(GET, [consumer, id]))[0];
}

/**
 * Reads the measurements whose IDs are in `$2`. Reads nothing if their total size exceeds `$3`. A measurement whose ID
 * occurs twice in `$2` counts twice.
 */
const GET_MANY = sql(
  'measurement_get_many',
  `WITH wanted AS MATERIALIZED (
     SELECT m.id, ${SIZE} * named.times AS size
       FROM (SELECT id, count(*) AS times FROM unnest($2::text[]) AS id GROUP BY id) AS named
       JOIN measurements m ON m.id = named.id WHERE m.consumer = $1
   )
   ${AGGREGATE.select} FROM wanted JOIN measurements m ON m.id = wanted.id JOIN requisitions r ON r.measurement = m.id
    WHERE (SELECT sum(size) FROM wanted) <= $3::bigint ORDER BY m.id, r.ordinal`,
  AGGREGATE.reader,
);
const EXISTING = sql<{ id: string }>(
  'measurement_get_existing',
  `SELECT id FROM measurements WHERE consumer = $1 AND id = ANY($2::text[])`,
);

/**
 * Reads the measurements with these IDs from one snapshot. If their total size exceeds `maxBytes`, the result contains
 * only the IDs of the existing measurements, in `tooLarge`.
 */
export async function getMeasurements(
  db: Queryable,
  consumer: string,
  ids: string[],
  maxBytes: number,
): Promise<{ found: Map<string, Aggregate> } | { tooLarge: Set<string> }> {
  const found = aggregates(await db.query(GET_MANY, [consumer, ids, maxBytes]));
  if (found.length === 0) {
    const existing = await db.query(EXISTING, [consumer, ids]);
    if (existing.length > 0) return { tooLarge: new Set(existing.map(({ id }) => id)) };
  }
  return { found: new Map(found.map((a) => [a.measurement.id, a])) };
}

export type MeasurementOrder = 'create_time' | 'update_time' | 'create_time_desc';

interface MeasurementListQuery {
  consumer: string;
  states: readonly string[];
  order: MeasurementOrder;
  referenceId: string | undefined;
  created: Bounds;
  updated: Bounds;
  after: Cursor;
  limit: number;
  maxBytes: number;
}

/** A range of times. Both bounds are exclusive. */
interface Bounds {
  after: Timestamp | '-infinity';
  before: Timestamp | 'infinity';
}

/**
 * Returns the statement that lists measurements by state or by reference. By state, the statement reads at most one
 * page of rows per state. Parameters: `$1` consumer, `$2` states, `$3..$6` bounds, `$7, $8` cursor, `$9` limit, `$10`
 * maximum bytes, `$11` reference (only in the list by reference).
 */
function listStatement(order: MeasurementOrder, by: 'state' | 'reference') {
  const isDescending = order === 'create_time_desc';
  const position = isDescending ? 'create_time' : order;
  const [after, sorted] = isDescending ? ['<', 'position DESC, id DESC'] : ['>', 'position, id'];
  const found = (condition: string) =>
    `SELECT m.id, m.${position} AS position, ${SIZE} AS size FROM measurements m
      WHERE m.consumer = $1 AND ${condition}
        AND m.create_time > $3::timestamptz AND m.create_time < $4::timestamptz
        AND m.update_time > $5::timestamptz AND m.update_time < $6::timestamptz
        AND (m.${position}, m.id) ${after} ($7::timestamptz, $8)
      ORDER BY ${sorted} LIMIT $9::int + 1`;
  const candidates =
    by === 'reference'
      ? found('m.reference_id = $11 AND m.state = ANY($2::text[])')
      : `SELECT probe.* FROM unnest($2::text[]) AS wanted(state) CROSS JOIN LATERAL (
           ${found('m.state = wanted.state')}
         ) probe ORDER BY ${sorted} LIMIT $9::int + 1`;
  return sql(
    `measurement_list_by_${order}${by === 'reference' ? '_of_reference' : ''}`,
    longPageText(
      candidates,
      `${AGGREGATE.select}, page.candidates, page.nth
         FROM page JOIN measurements m ON m.id = page.id JOIN requisitions r ON r.measurement = m.id`,
      { limit: 9, bytes: 10 },
      'page.nth, r.ordinal',
      sorted,
    ),
    pageRow(AGGREGATE.reader),
  );
}
const listStatements = (by: 'state' | 'reference') => ({
  create_time: listStatement('create_time', by),
  update_time: listStatement('update_time', by),
  create_time_desc: listStatement('create_time_desc', by),
});
const LIST = { state: listStatements('state'), reference: listStatements('reference') };

export async function listMeasurements(db: Queryable, q: MeasurementListQuery): Promise<Page<Aggregate>> {
  const by = q.referenceId === undefined ? 'state' : 'reference';
  const rows = await db.query(LIST[by][q.order], [
    ...[q.consumer, q.states, q.created.after, q.created.before, q.updated.after, q.updated.before],
    ...[q.after.time, q.after.id, q.limit, q.maxBytes],
    ...(by === 'reference' ? [q.referenceId] : []),
  ]);
  const { items, more } = pageOf(rows);
  return { items: aggregates(items), more };
}

const LOCK = sql('measurement_lock', `SELECT 1 FROM measurements WHERE consumer = $1 AND id = $2 FOR UPDATE`);
const LOCK_BY_REQUISITION = sql(
  'measurement_lock_by_requisition',
  `SELECT 1 FROM measurements WHERE id = (SELECT measurement FROM requisitions WHERE provider = $1 AND id = $2)
   FOR UPDATE`,
);
const LOAD_BY_REQUISITION = sql(
  'measurement_load_by_requisition',
  `${NAMED_REQUISITION.select} FROM requisitions named JOIN measurements m ON m.id = named.measurement
     JOIN requisitions r ON r.measurement = m.id
    WHERE named.provider = $1 AND named.id = $2 ORDER BY r.ordinal`,
  NAMED_REQUISITION.reader,
);

export async function lockMeasurement(
  tx: Transaction,
  consumer: string,
  id: string,
): Promise<Aggregate | undefined> {
  return aggregates(await lockAndRead(tx, LOCK, GET, [consumer, id]))[0];
}

export type AggregateOfRequisition = AggregateOf<MeasurementWithSpec, NamedRequisition>;

/** Locks the measurement of a requisition. Loads the content of this requisition, but not of the other requisitions. */
export async function lockByRequisition(
  tx: Transaction,
  provider: string,
  requisition: string,
): Promise<AggregateOfRequisition | undefined> {
  const values = [provider, requisition];
  return aggregates(await lockAndRead(tx, LOCK_BY_REQUISITION, LOAD_BY_REQUISITION, values))[0];
}

export const PENDING = `m.state IN (${literals(PENDING_MEASUREMENT_STATES)})`;

const LOCK_MANY = sql(
  'measurement_lock_many',
  'SELECT 1 FROM measurements WHERE id = ANY($1) ORDER BY id FOR UPDATE',
);
const LOAD_PENDING = sql(
  'measurement_load_pending',
  `${OUTLINE.select} FROM unnest($1::text[]) AS named(id) JOIN measurements m ON m.id = named.id
     JOIN requisitions r ON r.measurement = m.id WHERE ${PENDING} ORDER BY m.id, r.ordinal`,
  OUTLINE.reader,
);

/**
 * Locks the measurements, and returns those that are still pending. Does not read long fields, because the long fields
 * of a hundred measurements can take 400 MiB.
 */
export async function lockMeasurements(tx: Transaction, ids: string[]): Promise<Outline[]> {
  return aggregates(await lockAndRead(tx, LOCK_MANY, LOAD_PENDING, [ids]));
}

/** Finds measurements by request ID, including removed measurements, whose tombstones keep their request IDs. */
export const findByRequestIds = read.byKey(
  ({ requestId }: { requestId: string; id: string; hash: Uint8Array }) => requestId,
  (consumer: string, requestIds: string[]) => [consumer, requestIds],
  'measurement_find_requests',
  `SELECT id, request_id, request_hash FROM measurements WHERE consumer = $1 AND request_id = ANY($2)
   UNION ALL
   SELECT id, request_id, request_hash FROM measurement_tombstones WHERE consumer = $1 AND request_id = ANY($2)`,
  object({ requestId: cell('request_id'), id: cell('id'), hash: cell('request_hash') }),
);
