/**
 * Stores reports and their measurements. The stored state of a report can be outdated, so reads also return the states
 * of its measurements.
 */
import {
  type MeasurementState,
  PENDING_MEASUREMENT_STATES,
  type Timestamp,
} from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { reportChange } from '../domain/changes.ts';
import type { ReportRecord, ReportWithEntries } from '../domain/report.ts';
import type { NewEntry } from '../domain/reportEntries.ts';
import { literals, lookup, type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, longPageText, type Page, pageOf, pageRow } from './page.ts';
import { inTransaction, lockAndRead, read } from './run.ts';
import { column, except, long, only, optional, optionalGroup, select, table } from './table.ts';
import { insertRequested, saveVersion } from './versions.ts';

export const reports = table<ReportRecord>('reports', {
  consumer: column('consumer'),
  id: column('id'),
  title: optional('title'),
  definition: optional('definition'),
  sealedDefinition: optionalGroup('definition_type_url', {
    ciphertext: column('definition_ciphertext', 'bytes'),
    typeUrl: column('definition_type_url'),
  }),
  definitionHash: optional('definition_hash', 'bytes'),
  sealedAnswer: optionalGroup('answer_type_url', {
    ciphertext: long('answer_ciphertext'),
    typeUrl: column('answer_type_url'),
  }),
  measurementCount: column('measurement_count', 'int'),
  state: column('state'),
  waitingFor: optional('waiting_for'),
  revision: column('revision', 'int'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});

interface Row {
  report: ReportRecord;
  keys: string[] | null;
  measurements: string[] | null;
  /** A measurement that retention has removed has an empty state. */
  states: (MeasurementState | '')[] | null;
}
const row = object<Row>({
  report: reports.reader(),
  keys: cell('keys'),
  measurements: cell('measurements'),
  states: cell('states'),
});

function withEntries({ report, keys, measurements, states }: Row): ReportWithEntries {
  const entryOf = (key: string, i: number) => ({
    key,
    measurement: measurements![i]!,
    state: states![i] || undefined,
  });
  return { report, entries: keys?.map(entryOf) ?? [] };
}

const ENTRIES = `LEFT JOIN LATERAL (
    SELECT array_agg(e.key ORDER BY e.n) AS keys, array_agg(e.measurement ORDER BY e.n) AS measurements,
           array_agg(coalesce(m.state, '') ORDER BY e.n) AS states
      FROM report_measurements e LEFT JOIN measurements m ON m.id = e.measurement
     WHERE e.consumer = r.consumer AND e.report = r.id
  ) AS entries ON true`;

const GET = lookup(
  'report_get',
  `SELECT ${select(reports, 'r')}, entries.* FROM reports r ${ENTRIES}
    WHERE r.consumer = $1 AND r.id = $2 AND r.state <> 'DELETED'`,
  row,
);
const LOCK = sql('report_lock', 'SELECT FROM reports WHERE consumer = $1 AND id = $2 FOR UPDATE');

export async function getReport(
  db: Queryable,
  consumer: string,
  id: string,
): Promise<ReportWithEntries | undefined> {
  return (await db.query(GET, [consumer, id])).map(withEntries)[0];
}

export async function lockReport(
  tx: Transaction,
  consumer: string,
  id: string,
): Promise<ReportWithEntries | undefined> {
  return (await lockAndRead(tx, LOCK, GET, [consumer, id])).map(withEntries)[0];
}

/** Parameters: `$1` consumer, `$2` states, `$3, $4` cursor, `$5` limit, `$6` maximum bytes. */
const LIST = sql(
  'report_list',
  longPageText(
    `SELECT probe.* FROM unnest($2::text[]) AS wanted(state) CROSS JOIN LATERAL (
       SELECT r.id, r.create_time AS position,
              2000 + (coalesce(octet_length(r.definition), octet_length(r.definition_ciphertext))
                + 200 * r.measurement_count) * 4 / 3 AS size
         FROM reports r
        WHERE r.consumer = $1 AND r.state = wanted.state AND (r.create_time, r.id) < ($3::timestamptz, $4)
        ORDER BY r.create_time DESC, r.id DESC LIMIT $5::int + 1
     ) probe ORDER BY position DESC, id DESC LIMIT $5::int + 1`,
    `SELECT ${select(reports, 'r', '', () => 'NULL::bytea')}, entries.*, page.candidates, page.nth
       FROM page JOIN reports r ON r.consumer = $1 AND r.id = page.id ${ENTRIES}`,
    { limit: 5, bytes: 6 },
    'page.nth',
    'position DESC, id DESC',
  ),
  pageRow(row),
);

/** Lists reports by their stored state, the newest first. Leaves out the encrypted answers. */
export async function listReports(
  db: Queryable,
  consumer: string,
  states: readonly string[],
  after: Cursor,
  limit: number,
  maxBytes: number,
): Promise<Page<ReportWithEntries>> {
  const values = [consumer, states, after.time, after.id, limit, maxBytes];
  const { items, more } = pageOf(await db.query(LIST, values));
  return { items: items.map(withEntries), more };
}

export const findByRequestId = read.first(
  (consumer: string, requestId: string) => [consumer, requestId],
  'report_find_request',
  'SELECT id, request_hash AS hash FROM reports WHERE consumer = $1 AND request_id = $2',
  object({ id: cell<string>('id'), hash: cell<Uint8Array>('hash') }),
);

/** Returns whether the consumer has a report with this ID. Deleted reports count too, because they keep their IDs. */
export const isIdTaken = read.exists(
  (consumer: string, id: string) => [consumer, id],
  'report_id_taken',
  'SELECT FROM reports WHERE consumer = $1 AND id = $2',
);

export const countReports = read.number(
  (consumer: string) => [consumer],
  'report_count',
  `SELECT count(*)::int AS n FROM reports WHERE consumer = $1 AND state <> 'DELETED'`,
);

/**
 * Locks the measurements, so that their states stay the same until the transaction ends. FOR KEY SHARE is enough,
 * because every transaction that changes a measurement first locks it FOR UPDATE. A transaction must call this before
 * it locks a report. Retention also locks measurements before reports, and the opposite order could cause deadlocks.
 */
export const shareMeasurements = inTransaction.byKey(
  ({ id }: { id: string; state: MeasurementState }) => id,
  (consumer: string, ids: string[]) => [consumer, ids],
  'report_share_measurements',
  'SELECT id, state FROM measurements WHERE consumer = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE',
  object({ id: cell<string>('id'), state: cell<MeasurementState>('state') }),
);

export const insertReport = insertRequested('report_insert', reports, (report: ReportRecord) => [
  reportChange(report, report.updateTime),
]);

/** Appends measurements to a report. `before` is the number of measurements that the report already has. */
export const appendEntries = inTransaction.last(
  ({ consumer, id }: ReportRecord, before: number, entries: NewEntry[]) => [
    ...[consumer, id, before],
    ...[entries.map(({ key }) => key), entries.map(({ measurement }) => measurement)],
  ],
  'report_append',
  `INSERT INTO report_measurements (consumer, report, n, key, measurement)
   SELECT $1, $2, $3::int + e.n, e.key, e.measurement
     FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS e(key, measurement, n)`,
);

const KEY: ['consumer', 'id'] = ['consumer', 'id'];
const PROGRESS = only(
  reports,
  ...(['title', 'measurementCount', 'state', 'waitingFor', 'revision', 'version', 'updateTime'] as const),
);
const changeAt = (report: ReportRecord, time: Timestamp) => [reportChange(report, time)];
/** Saves a report with an unchanged answer. Omits the answer, because PostgreSQL would store the whole answer again. */
export const saveReport = saveVersion('report_update', reports, KEY, PROGRESS, changeAt);
export const saveReportWithAnswer = saveVersion(
  'report_update_answer',
  reports,
  KEY,
  [...PROGRESS, ...only(reports, 'sealedAnswer')],
  changeAt,
);
const saveDeleted = saveVersion(
  'report_delete',
  reports,
  KEY,
  except(reports, 'consumer', 'id', 'createTime'),
  changeAt,
);
const FORGET = sql(
  'report_forget',
  `WITH request AS (UPDATE reports SET request_id = NULL, request_hash = NULL WHERE consumer = $1 AND id = $2)
   DELETE FROM report_measurements WHERE consumer = $1 AND report = $2`,
);

export function saveDeletedReport(tx: Transaction, report: ReportRecord): void {
  saveDeleted(tx, report, report.updateTime);
  tx.last(FORGET, [report.consumer, report.id]);
}

/**
 * Stores the measurement that the report waits for. The version stays the same, because this field is not part of the
 * report that the consumer reads.
 */
export const saveWaitingFor = inTransaction.last(
  ({ consumer, id, waitingFor }: ReportRecord) => [consumer, id, waitingFor],
  'report_wait_for',
  'UPDATE reports SET waiting_for = $3 WHERE consumer = $1 AND id = $2',
);

const unsettled = (of: string) => `SELECT r.consumer, r.id FROM reports r
   LEFT JOIN measurements m ON m.id = r.waiting_for AND m.state IN (${literals(PENDING_MEASUREMENT_STATES)})
  WHERE r.waiting_for IS NOT NULL AND m.id IS NULL AND ${of} ORDER BY r.consumer, r.id LIMIT $1::int`;
const settling = object({ consumer: cell<string>('consumer'), id: cell<string>('id') });
const UNSETTLED = sql('report_unsettled', unsettled('true'), settling);
const UNSETTLED_OF = sql('report_unsettled_of', unsettled('r.consumer = ANY($2::text[])'), settling);

/**
 * Finds reports that wait for a measurement that has ended or been removed. If `consumers` is undefined, searches all
 * consumers' reports.
 */
export function unsettledReports(db: Queryable, limit: number, consumers: string[] | undefined) {
  return consumers === undefined ? db.query(UNSETTLED, [limit]) : db.query(UNSETTLED_OF, [limit, consumers]);
}
