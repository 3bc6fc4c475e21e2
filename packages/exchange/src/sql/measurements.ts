/** Measurements with their requisitions: the aggregate is read whole, in one statement, and saved as a difference. */
import type { Finding, Protocol, Timestamp } from '@measurement-exchange/contract';
import type {
  Aggregate,
  Change,
  Fulfillment,
  MeasurementRecord,
  RequisitionRecord,
} from '../domain/measurement.ts';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';

/** Who made a change, and what the checks found about it, for the log. */
export interface Author {
  actor: string;
  requestId: string;
  findings: Finding[];
}

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
const AGGREGATE = `SELECT ${measurementColumns(whole)}, ${REQUISITION_COLUMNS}`;
const OUTLINE = `SELECT ${measurementColumns(leftOut)}, ${requisitionColumns(leftOut)}`;

/** Bytes of a measurement in an answer, roughly: TOASTed values are sized without being read. */
const SIZE = `
  (SELECT 2000 + (octet_length(m.spec_message) + octet_length(m.spec_signature)
          + coalesce(octet_length(m.failure_message), 0) + sum(1000 + octet_length(s.spec_ciphertext)
          + octet_length(s.public_key_data) + coalesce(octet_length(s.result_ciphertext), 0))) * 4 / 3
     FROM requisitions s WHERE s.measurement = m.id)`;

const GET = sql(
  'measurement_get',
  `${AGGREGATE} FROM measurements m JOIN requisitions r ON r.measurement = m.id
    WHERE m.consumer = $1 AND m.id = $2 ORDER BY r.ordinal`,
);

export async function getMeasurement(
  db: Queryable,
  consumer: string,
  id: string,
): Promise<Aggregate | undefined> {
  return aggregates(await db.query(GET, [consumer, id]))[0];
}

/** A name that is asked for twice counts twice: `$2` may repeat IDs. */
const GET_MANY = sql(
  'measurement_get_many',
  `WITH wanted AS MATERIALIZED (
     SELECT m.id, ${SIZE} * named.times AS size
       FROM (SELECT id, count(*) AS times FROM unnest($2::text[]) AS id GROUP BY id) AS named
       JOIN measurements m ON m.id = named.id WHERE m.consumer = $1
   )
   ${AGGREGATE} FROM wanted JOIN measurements m ON m.id = wanted.id JOIN requisitions r ON r.measurement = m.id
    WHERE (SELECT sum(size) FROM wanted) <= $3::bigint ORDER BY m.id, r.ordinal`,
);
const EXISTING = sql(
  'measurement_get_existing',
  `SELECT id FROM measurements WHERE consumer = $1 AND id = ANY($2::text[])`,
);

/** From one snapshot; or, where those that exist would be above `maxBytes` together, only which they are. */
export async function getMeasurements(
  db: Queryable,
  consumer: string,
  ids: string[],
  maxBytes: number,
): Promise<{ found: Map<string, Aggregate> } | { tooLarge: Set<string> }> {
  const found = aggregates(await db.query(GET_MANY, [consumer, ids, maxBytes]));
  if (found.length === 0) {
    const existing = await db.query<{ id: string }>(EXISTING, [consumer, ids]);
    if (existing.length > 0) return { tooLarge: new Set(existing.map(({ id }) => id)) };
  }
  return { found: new Map(found.map((a) => [a.measurement.id, a])) };
}

export interface MeasurementListQuery {
  consumer: string;
  states: readonly string[];
  /** The column of the total order. */
  order: 'create_time' | 'update_time';
  created: Bounds;
  updated: Bounds;
  after: Cursor;
  limit: number;
  maxBytes: number;
}

/** Exclusive. */
export interface Bounds {
  after: Timestamp | '-infinity';
  before: Timestamp | 'infinity';
}

/** The last row of the page before; rows strictly beyond it follow. */
export interface Cursor {
  time: Timestamp | '-infinity';
  id: string;
}

export interface Page<T> {
  items: T[];
  more: boolean;
}

/**
 * One index probe per state, merged: the cost is that of the page, whatever the filter. `$1` parent,
 * `$2` states, `$3..$6` bounds, `$7, $8` cursor, `$9` limit, `$10` bytes.
 */
function listStatement(order: 'create_time' | 'update_time') {
  return sql(
    `measurement_list_by_${order}`,
    `WITH candidates AS MATERIALIZED (
       SELECT page.* FROM unnest($2::text[]) AS wanted(state) CROSS JOIN LATERAL (
         SELECT m.id, m.${order} AS position, ${SIZE} AS size FROM measurements m
          WHERE m.consumer = $1 AND m.state = wanted.state
            AND m.create_time > $3::timestamptz AND m.create_time < $4::timestamptz
            AND m.update_time > $5::timestamptz AND m.update_time < $6::timestamptz
            AND (m.${order}, m.id) > ($7::timestamptz, $8)
          ORDER BY m.${order}, m.id LIMIT $9::int + 1
       ) page ORDER BY position, id LIMIT $9::int + 1
     ), page AS (
       SELECT id, position, count(*) OVER () AS candidates,
              row_number() OVER w AS nth, sum(size) OVER w AS running
         FROM candidates WINDOW w AS (ORDER BY position, id)
     )
     ${AGGREGATE}, page.candidates, page.nth
       FROM page JOIN measurements m ON m.id = page.id JOIN requisitions r ON r.measurement = m.id
      WHERE page.nth <= $9::int AND (page.nth = 1 OR page.running <= $10::bigint)
      ORDER BY page.nth, r.ordinal`,
  );
}
const LIST = { create_time: listStatement('create_time'), update_time: listStatement('update_time') };

export async function listMeasurements(db: Queryable, q: MeasurementListQuery): Promise<Page<Aggregate>> {
  const rows = await db.query(LIST[q.order], [
    q.consumer,
    q.states,
    q.created.after,
    q.created.before,
    q.updated.after,
    q.updated.before,
    q.after.time,
    q.after.id,
    q.limit,
    q.maxBytes,
  ]);
  return { items: aggregates(rows), more: hasMore(rows) };
}

/** The statement counted its candidates, one more than the page may hold. */
export function hasMore(rows: { candidates?: bigint; nth?: bigint }[]): boolean {
  const last = rows.at(-1);
  return last !== undefined && last.candidates! > last.nth!;
}

const LOCK = sql('measurement_lock', 'SELECT 1 FROM measurements WHERE consumer = $1 AND id = $2 FOR UPDATE');
const LOCK_BY_REQUISITION = sql(
  'measurement_lock_by_requisition',
  `SELECT 1 FROM measurements WHERE id = (SELECT measurement FROM requisitions WHERE provider = $1 AND id = $2)
   FOR UPDATE`,
);
const LOAD_BY_REQUISITION = sql(
  'measurement_load_by_requisition',
  `${AGGREGATE} FROM requisitions named JOIN measurements m ON m.id = named.measurement
     JOIN requisitions r ON r.measurement = m.id
    WHERE named.provider = $1 AND named.id = $2 ORDER BY r.ordinal`,
);

/** Locks the parent first, then reads in a statement of its own: its snapshot is taken behind the lock. */
export async function lockMeasurement(
  tx: Transaction,
  consumer: string,
  id: string,
): Promise<Aggregate | undefined> {
  const [, rows] = await Promise.all([tx.query(LOCK, [consumer, id]), tx.query(GET, [consumer, id])]);
  return aggregates(rows)[0];
}

export async function lockByRequisition(
  tx: Transaction,
  provider: string,
  requisition: string,
): Promise<Aggregate | undefined> {
  const [, rows] = await Promise.all([
    tx.query(LOCK_BY_REQUISITION, [provider, requisition]),
    tx.query(LOAD_BY_REQUISITION, [provider, requisition]),
  ]);
  return aggregates(rows)[0];
}

export const PENDING = `m.state IN ('AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING')`;

const LOCK_MANY = sql(
  'measurement_lock_many',
  'SELECT 1 FROM measurements WHERE id = ANY($1) ORDER BY id FOR UPDATE',
);
const LOAD_PENDING = sql(
  'measurement_load_pending',
  `${OUTLINE} FROM measurements m JOIN requisitions r ON r.measurement = m.id
    WHERE m.id = ANY($1) AND ${PENDING} ORDER BY m.id, r.ordinal`,
);

/**
 * Those of them that are still pending, to be ended. What they hold is left out: ending a measurement neither
 * reads nor writes it, and a hundred of them may hold 400 MiB.
 */
export async function lockMeasurements(tx: Transaction, ids: string[]): Promise<Aggregate[]> {
  const [, rows] = await Promise.all([tx.query(LOCK_MANY, [ids]), tx.query(LOAD_PENDING, [ids])]);
  return aggregates(rows);
}

const FIND_REQUEST = sql(
  'measurement_find_request',
  `SELECT id, request_hash FROM measurements WHERE consumer = $1 AND request_id = $2
   UNION ALL
   SELECT id, request_hash FROM measurement_tombstones WHERE consumer = $1 AND request_id = $2`,
);

/** The measurement an earlier request with this ID made, removed or not. */
export async function findByRequestId(
  db: Queryable,
  consumer: string,
  requestId: string | undefined,
): Promise<{ id: string; hash: Uint8Array } | undefined> {
  if (requestId === undefined) return undefined;
  const [row] = await db.query<{ id: string; request_hash: Uint8Array }>(FIND_REQUEST, [consumer, requestId]);
  return row && { id: row.id, hash: row.request_hash };
}

const LOG_COLUMNS =
  'measurement, requisition, version, from_state, to_state, time, actor, cause, request_id, findings';

const INSERT = sql(
  'measurement_insert',
  `WITH m AS (
     INSERT INTO measurements (id, consumer, certificate, spec_message, spec_signature, spec_algorithm, reference_id,
       request_id, request_hash, measurement_type, protocol, state, requisition_count, version,
       create_time, update_time)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, cardinality($14::text[]), 1, $13, $13)
   ), r AS (
     INSERT INTO requisitions (id, provider, measurement, ordinal, certificate, public_key_type, public_key_data,
       public_key_format, spec_ciphertext, spec_type_url, disclosed_nonce, nonce_hash, state, version,
       create_time, update_time)
     SELECT n.id, n.provider, $1, n.ordinal - 1, n.certificate, n.key_type, n.key_data, n.key_format, n.ciphertext,
            n.type_url, n.nonce, n.nonce_hash, 'UNFULFILLED', 1, $13, $13
       FROM unnest($14::text[], $15::text[], $16::text[], $17::text[], $18::bytea[], $19::text[], $20::bytea[],
                   $21::text[], $22::bigint[], $23::bytea[]) WITH ORDINALITY
         AS n(id, provider, certificate, key_type, key_data, key_format, ciphertext, type_url, nonce, nonce_hash, ordinal)
   )
   INSERT INTO transitions (${LOG_COLUMNS})
   SELECT $1, s.requisition, 1, NULL, s.to_state, $13, $24, s.cause, $25, CASE WHEN s.n = 1 THEN $26::jsonb END
     FROM unnest($27::text[], $28::text[], $29::text[]) WITH ORDINALITY AS s(requisition, to_state, cause, n)
    ORDER BY s.n`,
);

export function insertMeasurement(
  tx: Transaction,
  { after: { measurement: m, requisitions: rs }, steps }: Change,
  request: { id: string; hash: Uint8Array } | undefined,
  author: Author,
): void {
  tx.last(INSERT, [
    m.id,
    m.consumer,
    m.certificate,
    m.spec.message,
    m.spec.signature,
    m.spec.signatureAlgorithm,
    m.referenceId,
    request?.id,
    request?.hash,
    m.measurementType,
    m.protocol,
    m.state,
    m.createTime,
    rs.map((r) => r.id),
    rs.map((r) => r.provider),
    rs.map((r) => r.certificate),
    rs.map((r) => r.publicKey['@type']),
    rs.map((r) => r.publicKey.data),
    rs.map((r) => r.publicKey.format),
    rs.map((r) => r.encryptedSpec.ciphertext),
    rs.map((r) => r.encryptedSpec.typeUrl),
    rs.map((r) => signed(r.encryptedSpec.nonce)),
    rs.map((r) => r.nonceHash),
    author.actor,
    author.requestId,
    findingsOf(author),
    steps.map((s) => s.requisition ?? ''),
    steps.map((s) => s.to),
    steps.map((s) => s.cause),
  ]);
}

const UPDATE = sql(
  'measurement_update',
  `WITH m AS (
     UPDATE measurements o SET state = n.state, failure_reason = n.reason, failure_message = n.message,
            version = n.version, update_time = n.update_time
       FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::timestamptz[])
         AS n(id, expected, state, reason, message, version, update_time)
      WHERE o.id = n.id AND o.version = n.expected RETURNING 1
   ), r AS (
     UPDATE requisitions q SET state = n.state, refusal_justification = n.justification,
            refusal_message = n.refusal_message, nonce = n.nonce, result_certificate = n.certificate,
            result_ciphertext = n.ciphertext, result_type_url = n.type_url, fulfillment_context = n.context::jsonb,
            version = n.version, update_time = n.update_time
       FROM unnest($8::text[], $9::int[], $10::text[], $11::text[], $12::text[], $13::bigint[], $14::text[],
                   $15::bytea[], $16::text[], $17::text[], $18::int[], $19::timestamptz[])
         AS n(id, expected, state, justification, refusal_message, nonce, certificate, ciphertext, type_url, context,
              version, update_time)
      WHERE q.id = n.id AND q.version = n.expected RETURNING 1
   ), log AS (
     INSERT INTO transitions (${LOG_COLUMNS})
     SELECT s.measurement, s.requisition, s.version, s.from_state, s.to_state, s.time, $20, s.cause, $21,
            CASE WHEN s.n = 1 THEN $22::jsonb END
       FROM unnest($23::text[], $24::text[], $25::int[], $26::text[], $27::text[], $28::timestamptz[], $29::text[])
         WITH ORDINALITY AS s(measurement, requisition, version, from_state, to_state, time, cause, n)
      ORDER BY s.n
   )
   SELECT expect_rows((SELECT count(*) FROM m) + (SELECT count(*) FROM r),
                      cardinality($1::text[]) + cardinality($8::text[]))`,
);

/** Only changed rows, each with its expected version; the log rows go with them. */
export function saveMeasurement(tx: Transaction, before: Aggregate, change: Change, author: Author): void {
  saveMeasurements(tx, [{ before, change }], author);
}

/** Several at once: a hundred in one statement take a fifth of the time of a hundred statements. */
export function saveMeasurements(
  tx: Transaction,
  all: { before: Aggregate; change: Change }[],
  author: Author,
): void {
  const changed = <T extends { version: number }>(before: T, after: T) =>
    after.version === before.version ? [] : [{ ...after, expected: before.version }];
  const ms = all.flatMap(({ before, change }) => changed(before.measurement, change.after.measurement));
  const rs = all.flatMap(({ before, change }) =>
    change.after.requisitions.flatMap((r, i) => changed(before.requisitions[i]!, r)),
  );
  const steps = all.flatMap(({ before: { measurement }, change }) =>
    change.steps.map((step) => ({ ...step, measurement: measurement.id })),
  );
  tx.last(UPDATE, [
    ms.map((m) => m.id),
    ms.map((m) => m.expected),
    ms.map((m) => m.state),
    ms.map((m) => m.failure?.reason),
    ms.map((m) => m.failure?.message),
    ms.map((m) => m.version),
    ms.map((m) => m.updateTime),
    rs.map((r) => r.id),
    rs.map((r) => r.expected),
    rs.map((r) => r.state),
    rs.map((r) => r.refusal?.justification),
    rs.map((r) => r.refusal?.message),
    rs.map((r) => signed(r.fulfillment?.nonce)),
    rs.map((r) => r.fulfillment?.certificate),
    rs.map((r) => r.fulfillment?.encryptedResult.ciphertext),
    rs.map((r) => r.fulfillment?.encryptedResult.typeUrl),
    rs.map((r) => r.fulfillment?.context && JSON.stringify(r.fulfillment.context)),
    rs.map((r) => r.version),
    rs.map((r) => r.updateTime),
    author.actor,
    author.requestId,
    findingsOf(author),
    steps.map((s) => s.measurement),
    steps.map((s) => s.requisition ?? ''),
    steps.map((s) => s.version),
    steps.map((s) => s.from),
    steps.map((s) => s.to),
    steps.map((s) => s.time),
    steps.map((s) => s.cause),
  ]);
}

/** Findings stand beside the first step of the change they belong to. */
function findingsOf(author: Author): string | undefined {
  return author.findings.length > 0 ? JSON.stringify(author.findings) : undefined;
}

/** The signed 64-bit integer of the same bytes. */
function signed(nonce: bigint | undefined): bigint | undefined {
  return nonce === undefined ? undefined : BigInt.asIntN(64, nonce);
}

function unsigned(nonce: bigint | null): bigint | undefined {
  return nonce === null ? undefined : BigInt.asUintN(64, nonce);
}

/** Rows come ordered: one aggregate after the other, its requisitions in the order of the request. */
function aggregates(rows: Row[]): Aggregate[] {
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
