/**
 * Reads a party's summary. Every count stops at a limit, and every list reads only the first rows of an index. The
 * cost therefore does not grow with the number of rows.
 */
import {
  COMPUTATION_STATES,
  MAX_COUNT,
  MEASUREMENT_STATES,
  PENDING_COMPUTATION_STATES,
  PENDING_MEASUREMENT_STATES,
  REQUISITION_STATES,
  type Timestamp,
} from '@measurement-exchange/contract';
import { literals, type Queryable, sql } from './db.ts';
import { CAUSE, type Explained, explained, withCauses } from './explanations.ts';
import { EXPLAINED, EXPLAINED_REQUISITION } from './measurementTables.ts';
import { read } from './run.ts';

/** A summary explains at most this many open measurements, requisitions, or computations. */
export const MAX_OPEN = 50;
/** The maximum number of failed rows to read. A summary shows one fewer. The extra row tells whether more exist. */
const FAILURES = 11;

/** For each kind of party, the table whose rows a summary counts. Open rows are sorted by the column `opened`. */
export const WORK = {
  measurementConsumer: {
    ...{ table: 'measurements', owner: 'consumer', opened: 'create_time' },
    ...{ states: MEASUREMENT_STATES, open: PENDING_MEASUREMENT_STATES, failed: 'FAILED', failures: FAILURES },
    rows: `${EXPLAINED.select}, ${CAUSE} FROM notable n JOIN measurements m ON m.id = n.id
      JOIN requisitions r ON r.measurement = m.id ORDER BY n.time, m.id, r.ordinal`,
  },
  dataProvider: {
    ...{ table: 'requisitions', owner: 'provider', opened: 'create_time' },
    ...{ states: REQUISITION_STATES, open: ['UNFULFILLED'], failed: 'REFUSED', failures: FAILURES },
    rows: `${EXPLAINED_REQUISITION.select}, ${CAUSE} FROM notable n JOIN requisitions r ON r.id = n.id
      JOIN measurements m ON m.id = r.measurement ORDER BY n.time, r.id`,
  },
  duchy: {
    ...{ table: 'computations', owner: 'duchy', opened: 'update_time' },
    // Read more failed rows for a duchy, because its summary leaves out every failure that a provider caused by
    // refusing a requisition.
    ...{ states: COMPUTATION_STATES, open: PENDING_COMPUTATION_STATES, failed: 'FAILED', failures: MAX_OPEN },
    rows: `${EXPLAINED.select}, ${CAUSE} FROM notable n JOIN measurements m ON m.id = n.id
      JOIN requisitions r ON r.measurement = m.id ORDER BY n.time, m.id, r.ordinal`,
  },
} as const;
type Viewer = keyof typeof WORK;

/**
 * The counts of a party's measurements, requisitions, or computations in one state. For an open state, only the counts
 * by age are set. For a final state, only `all` and `recent` are set.
 */
export interface StateRow {
  state: string;
  all: number | null;
  recent: number | null;
  underHour: number | null;
  underDay: number | null;
  older: number | null;
}

/**
 * Returns a statement that counts a party's rows by state. Parameters: `$1` party, `$2` start of recent changes, `$3` a
 * day ago, `$4` an hour ago, `$5` limit of each count. The limit is a parameter, because PostgreSQL may first collect
 * all rows in a bitmap if the limit is a constant. With a parameter, PostgreSQL reads the index only up to the limit.
 */
function countStatement(viewer: Viewer) {
  const { table, owner, states, open, opened } = WORK[viewer];
  const count = (time: string, condition = '') =>
    `(SELECT count(*)::int FROM (
       SELECT FROM ${table} w WHERE w.${owner} = $1 AND w.state = s.state ${condition}
        ORDER BY w.${time}, w.id LIMIT $5::int) counted)`;
  const isOpen = `s.state IN (${literals(open)})`;
  const ifOpen = (condition: string) => `CASE WHEN ${isOpen} THEN ${count(opened, condition)} END`;
  const ifEnded = (condition?: string) =>
    `CASE WHEN NOT ${isOpen} THEN ${count('update_time', condition)} END`;
  return sql<StateRow>(
    `summary_count_${table}`,
    `SELECT s.state, ${ifEnded()} AS all, ${ifEnded('AND w.update_time >= $2::timestamptz')} AS recent,
            ${ifOpen(`AND w.${opened} > $4::timestamptz`)} AS "underHour",
            ${ifOpen(`AND w.${opened} > $3::timestamptz AND w.${opened} <= $4::timestamptz`)} AS "underDay",
            ${ifOpen(`AND w.${opened} <= $3::timestamptz`)} AS older
       FROM unnest(ARRAY[${literals(states)}]) WITH ORDINALITY AS s(state, nth) ORDER BY s.nth`,
  );
}

/** Returns a statement that reads the `$3` oldest open rows, and the `$4` latest rows that failed since `$2`. */
function notableStatement(viewer: Viewer) {
  const { table, owner, open, opened, failed, rows } = WORK[viewer];
  return sql(
    `summary_notable_${table}`,
    `WITH notable AS MATERIALIZED (
       (SELECT oldest.* FROM unnest(ARRAY[${literals(open)}]) AS s(state) CROSS JOIN LATERAL (
          SELECT w.id, w.${opened} AS time FROM ${table} w WHERE w.${owner} = $1 AND w.state = s.state
           ORDER BY w.${opened}, w.id LIMIT $3::int) oldest ORDER BY time, id LIMIT $3::int)
       UNION ALL
       (SELECT w.id, w.update_time FROM ${table} w
         WHERE w.${owner} = $1 AND w.state = ${literals([failed])} AND w.update_time >= $2::timestamptz
         ORDER BY w.update_time DESC, w.id DESC LIMIT $4::int)
     ) ${rows}`,
    explained,
  );
}

const statementsOf = (viewer: Viewer) => ({
  count: countStatement(viewer),
  notable: notableStatement(viewer),
});
const STATEMENTS = {
  measurementConsumer: statementsOf('measurementConsumer'),
  dataProvider: statementsOf('dataProvider'),
  duchy: statementsOf('duchy'),
};

interface Times {
  recentSince: Timestamp;
  dayAgo: Timestamp;
  hourAgo: Timestamp;
}

export function countStates(
  db: Queryable,
  viewer: Viewer,
  party: string,
  { recentSince, dayAgo, hourAgo }: Times,
): Promise<StateRow[]> {
  return db.query(STATEMENTS[viewer].count, [party, recentSince, dayAgo, hourAgo, MAX_COUNT + 1]);
}

/** Reads a party's oldest open rows from its WORK table (at most MAX_OPEN + 1), and the latest recent failures. */
export async function notableWork(
  db: Queryable,
  viewer: Viewer,
  party: string,
  { recentSince }: Times,
): Promise<Explained[]> {
  const limits = [MAX_OPEN + 1, WORK[viewer].failures];
  return withCauses(await db.query(STATEMENTS[viewer].notable, [party, recentSince, ...limits]));
}

const countGroups = (owner: 'provider' | 'consumer') =>
  read.number(
    (party: string) => [party, MAX_COUNT + 1],
    `summary_count_event_groups_of_${owner}`,
    `SELECT count(*)::int AS n FROM (
       SELECT FROM event_groups WHERE ${owner} = $1 AND state = 'ACTIVE' ORDER BY create_time, id LIMIT $2::int) counted`,
  );
export const countEventGroups = {
  measurementConsumer: countGroups('consumer'),
  dataProvider: countGroups('provider'),
};
