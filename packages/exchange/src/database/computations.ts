/**
 * Reads and locks computations, and stores the progress that duchies report. A computation is a measurement as its
 * duchies see it.
 */
import type { Progress, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import type {
  AggregateOf,
  MeasurementWithResult,
  MeasurementWithSpec,
  RequisitionOutline,
} from '../domain/aggregate.ts';
import type { WaitingState } from '../domain/deadlines.ts';
import { lookup, type Queryable, sql, type Transaction } from './db.ts';
import {
  aggregates,
  COMPUTATION,
  type Join,
  type JoinedRow,
  LISTED_COMPUTATION,
} from './measurementTables.ts';
import { type Cursor, longPageText, type Page, pageOf, pageRow } from './page.ts';
import { inTransaction, lockAndRead, read } from './run.ts';
import { column, names, optional, parameters, select, table, values } from './table.ts';

/** `M` is the type of the measurement. The default type has no result, because lists of computations omit results. */
export interface ComputationRecord<M extends MeasurementWithSpec = MeasurementWithSpec> {
  aggregate: AggregateOf<M, RequisitionOutline>;
  /** SHA-256 hashes of the encrypted requisition specs, in the order of the requisitions. */
  requisitionSpecHashes: Uint8Array[];
}

interface ComputationRow<M> {
  row: JoinedRow<M, RequisitionOutline>;
  hash: Uint8Array;
}
const SPEC_HASH = 'sha256(r.spec_ciphertext) AS requisition_spec_hash';

function rowReader<M>({ reader }: Join<M, RequisitionOutline>) {
  return object<ComputationRow<M>>({ row: reader, hash: cell('requisition_spec_hash') });
}

function records<M extends MeasurementWithSpec>(rows: ComputationRow<M>[]): ComputationRecord<M>[] {
  let at = 0;
  return aggregates(rows.map(({ row }) => row)).map((aggregate) => {
    const from = at;
    at += aggregate.requisitions.length;
    return { aggregate, requisitionSpecHashes: rows.slice(from, at).map(({ hash }) => hash) };
  });
}

const GET = lookup(
  'computation_get',
  `${COMPUTATION.select}, ${SPEC_HASH} FROM computations own JOIN measurements m ON m.id = own.id JOIN requisitions r ON r.measurement = m.id
    WHERE own.duchy = $1 AND own.id = $2 ORDER BY r.ordinal`,
  rowReader(COMPUTATION),
);

/** Reads a computation. Returns undefined if the duchy does not participate in it. */
export async function getComputation(
  db: Queryable,
  duchy: string,
  id: string,
): Promise<ComputationRecord<MeasurementWithResult> | undefined> {
  return records(await db.query(GET, [duchy, id]))[0];
}

const LOCK = sql(
  'measurement_lock_by_computation',
  `SELECT 1 FROM measurements WHERE id = (SELECT id FROM computations WHERE duchy = $1 AND id = $2) FOR UPDATE`,
);

export async function lockComputation(
  tx: Transaction,
  duchy: string,
  id: string,
): Promise<ComputationRecord<MeasurementWithResult> | undefined> {
  return records(await lockAndRead(tx, LOCK, GET, [duchy, id]))[0];
}

/**
 * The approximate cost of listing a computation, in bytes: its size in the response, plus its requisition specs, which
 * the statement reads and hashes.
 */
const SIZE = `
  (SELECT coalesce(6000 * (jsonb_array_length(m.protocol_config -> 'workers') + 1), 12000) + (octet_length(m.spec_message) + octet_length(m.spec_signature)
          + coalesce(octet_length(m.failure_message), 0)) * 4 / 3 + sum(800 + octet_length(s.spec_ciphertext))
     FROM requisitions s WHERE s.measurement = m.id)`;

/**
 * Lists a duchy's computations. The statement reads at most one page of the index per state, so its cost does not grow
 * with the number of computations.
 */
function listStatement(direction: 'ascending' | 'descending') {
  const [after, sorted] =
    direction === 'descending' ? ['<', 'position DESC, id DESC'] : ['>', 'position, id'];
  return sql(
    direction === 'descending' ? 'computation_list_desc' : 'computation_list',
    longPageText(
      `SELECT probe.* FROM unnest($2::text[]) AS wanted(state) CROSS JOIN LATERAL (
         SELECT c.id, c.update_time AS position, ${SIZE} AS size
           FROM computations c JOIN measurements m ON m.id = c.id
          WHERE c.duchy = $1 AND c.state = wanted.state AND c.update_time > $3::timestamptz
            AND (c.update_time, c.id) ${after} ($4::timestamptz, $5)
          ORDER BY ${sorted} LIMIT $6::int + 1
       ) probe ORDER BY ${sorted} LIMIT $6::int + 1`,
      `${LISTED_COMPUTATION.select}, ${SPEC_HASH}, page.candidates, page.nth
         FROM page JOIN measurements m ON m.id = page.id JOIN requisitions r ON r.measurement = m.id`,
      { limit: 6, bytes: 7 },
      'page.nth, r.ordinal',
      sorted,
    ),
    pageRow(rowReader(LISTED_COMPUTATION)),
  );
}
const LIST = { ascending: listStatement('ascending'), descending: listStatement('descending') };

interface ComputationListQuery {
  duchy: string;
  states: readonly string[];
  direction: keyof typeof LIST;
  updatedAfter: Timestamp | '-infinity';
  after: Cursor;
  limit: number;
  maxBytes: number;
}

export async function listComputations(
  db: Queryable,
  q: ComputationListQuery,
): Promise<Page<ComputationRecord>> {
  const values = [q.duchy, q.states, q.updatedAfter, q.after.time, q.after.id, q.limit, q.maxBytes];
  const { items, more } = pageOf(await db.query(LIST[q.direction], values));
  return { items: records(items), more };
}

/**
 * Returns a query for computations that are in `state` and whose `since` time is before a cutoff. A computation has one
 * row per duchy, so the query reads only the aggregator's row.
 */
function overdue(state: WaitingState, since: 'create_time' | 'update_time') {
  return read.all(
    (cutoff: Timestamp, limit: number) => [cutoff, limit],
    `computation_find_overdue_${state.toLowerCase()}`,
    `SELECT id FROM computations WHERE state = '${state}' AND role = 'AGGREGATOR' AND ${since} < $1::timestamptz
      ORDER BY ${since}, id LIMIT $2::int`,
    cell<string>('id'),
  );
}

export const findOverdue = {
  PENDING_PARAMS: overdue('PENDING_PARAMS', 'create_time'),
  PENDING_FULFILLMENT: overdue('PENDING_FULFILLMENT', 'create_time'),
  PENDING_CONFIRMATION: overdue('PENDING_CONFIRMATION', 'update_time'),
  // Duchies do not update a computation while they compute, so its update time is the time at which they began to
  // compute.
  COMPUTING: overdue('COMPUTING', 'update_time'),
};

export interface ProgressRecord extends Progress {
  computation: string;
}

const progress = table<ProgressRecord>('computation_log', {
  computation: column('computation'),
  duchy: column('duchy'),
  time: column('time', 'time'),
  stage: column('stage'),
  attempt: column('attempt', 'int'),
  message: column('message'),
  progress: optional('progress', 'double'),
});

const MAX_REPORTS = 200;

/** Stores a progress report unless it repeats the duchy's last report. The caller must have locked the measurement. */
export const insertProgress = inTransaction.last(
  (report: ProgressRecord) => values(progress.columns, report),
  'computation_log_insert',
  `WITH last AS (
     SELECT n, stage, attempt, message, progress FROM computation_log WHERE computation = $1 AND duchy = $2
      ORDER BY n DESC LIMIT 1
   ), next AS (
     SELECT coalesce((SELECT n FROM last), 0) + 1 AS n WHERE NOT EXISTS (
       SELECT FROM last WHERE (stage, attempt, message, progress) IS NOT DISTINCT FROM ($4::text, $5::int, $6::text, $7::float8))
   ), oldest AS (
     DELETE FROM computation_log l USING next
      WHERE l.computation = $1 AND l.duchy = $2 AND l.n <= next.n - ${MAX_REPORTS}
   )
   INSERT INTO computation_log (${names(progress.columns)}, n)
   SELECT ${parameters(progress.columns, 1)}, next.n FROM next`,
);

export const progressOfMeasurement = read.all(
  (consumer: string, id: string, limit: number) => [consumer, id, limit],
  'computation_log_of_measurement',
  `SELECT ${select(progress, 'l')} FROM measurements m JOIN (
       SELECT *, row_number() OVER (PARTITION BY duchy ORDER BY n DESC) AS age FROM computation_log WHERE computation = $2
     ) l ON l.computation = m.id
    WHERE m.consumer = $1 AND m.id = $2 AND l.age <= $3::int ORDER BY l.time, l.duchy, l.n`,
  progress.reader(),
);

export const latestReports = read.all(
  (ids: string[]) => [ids],
  'computation_log_latest',
  `SELECT DISTINCT ON (l.computation, l.duchy) ${select(progress, 'l')} FROM computation_log l
    WHERE l.computation = ANY($1::text[]) ORDER BY l.computation, l.duchy, l.n DESC`,
  progress.reader(),
);
