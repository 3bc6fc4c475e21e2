/** The log of changes: every mutation appends to it within the statement that writes, and parties read it in order. */
import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object, type Reader } from '@measurement-exchange/server/database';
import type { ChangeRecord } from '../domain/changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { read } from './run.ts';
import {
  arrayParameters,
  arrays,
  type Column,
  column,
  names,
  only,
  optional,
  parameters,
  select,
  type Table,
  table,
  values,
} from './table.ts';

const changes = table<ChangeRecord>('changes', {
  party: column('party'),
  name: column('name'),
  kind: column('kind'),
  state: optional('state'),
  version: column('version', 'int'),
  time: column('time', 'time'),
});

/** An INSERT of the rows whose arrays are the parameters from `$first` on. */
export function appendChanges(first: number): string {
  const columns = names(changes.columns);
  return `INSERT INTO changes (${columns}) SELECT ${names(changes.columns, 'c')}
    FROM unnest(${arrayParameters(changes.columns, first)}) WITH ORDINALITY AS c(${columns}, n) ORDER BY c.n`;
}

/** The array of their kinds. */
export function kindsOfChanges(first: number): string {
  return `$${first + changes.columns.findIndex(({ name }) => name === 'kind')}::text[]`;
}

/**
 * Holds for a row that no transaction with a later ID has written. A transaction that waits for a lock gets its ID when it
 * finds the row changed, and others may get the lock before it; it must begin again then.
 */
export const IN_ORDER = isNotLater('xmin');

/** IDs have 32 bits here: half of those of long ago look later, but not so little later as one of a running transaction. */
export function isNotLater(xid: string): string {
  return `age(${xid}) NOT BETWEEN -1000000 AND -1`;
}

/** The arrays for `appendChanges`. After the commit, the change bus announces the parties. */
export function changeValues(db: Queryable, rows: ChangeRecord[]): unknown[][] {
  for (const { party } of rows) db.wakes?.(party);
  return arrays(changes.columns, rows);
}

/** A function that saves the next version of a record with its changes, where the row has the version before. */
export function saveVersion<R extends { version: number }, Args extends unknown[]>(
  name: string,
  of: Table<R>,
  keys: (keyof R)[],
  changeable: Column<R>[],
  changesOf: (record: R, ...args: Args) => ChangeRecord[],
) {
  const key = only(of, ...keys) as Column<R>[];
  const version = key.length + 1;
  const statement = sql(
    name,
    `WITH saved AS (
       UPDATE ${of.name} SET (${names(changeable)}) = (${parameters(changeable, version + 1)})
        WHERE (${names(key)}) = (${parameters(key, 1)}) AND version = $${version}::int - 1 AND ${IN_ORDER} RETURNING 1
     ), change AS (${appendChanges(version + 1 + changeable.length)})
     SELECT expect_rows((SELECT count(*) FROM saved), 1)`,
  );
  return (tx: Transaction, record: R, ...args: Args): void => {
    const appended = changeValues(tx, changesOf(record, ...args));
    tx.last(statement, [...values(key, record), record.version, ...values(changeable, record), ...appended]);
  };
}

/**
 * A place in the log of a party: that of one of its rows, or where its log begins. Never that of a transaction that wrote
 * no row: a server that crashed may give its ID to another one.
 */
export interface Position {
  /** The ID of the transaction, a decimal number. */
  xid: string;
  seq: bigint;
}

export interface PlacedChange {
  change: ChangeRecord;
  at: Position;
}

export interface ChangePage {
  changes: PlacedChange[];
  /** Where the next page begins. */
  next: Position;
  /** The transaction of the first row that cannot be read yet, because an older one may still commit. */
  ahead: string | undefined;
}

interface PageRow {
  start: Position;
  isKept: boolean;
  ahead: string | undefined;
  /** Undefined where the page is empty. */
  placed: PlacedChange | undefined;
}

const position = (prefix: string) =>
  object<Position>({ xid: cell(`${prefix}xid`), seq: cell(`${prefix}seq`) });
const placed = object<PlacedChange>({ change: changes.reader(), at: position('') });

/**
 * `$1` party, `$2, $3` the position (null for the oldest row), `$4` limit. All transactions before the horizon are over, so
 * that nothing can appear before a row that was read. There is always a row, of an empty page one without a change.
 */
const PAGE = sql(
  'changes_page',
  `WITH place AS MATERIALIZED (
     SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon, coalesce(r.xid, '0'::xid8) AS xid, coalesce(r.seq, 0) AS seq
       FROM (SELECT) AS one LEFT JOIN changes_removed r ON r.party = $1
   )
   SELECT place.xid AS start_xid, place.seq AS start_seq,
          $2::xid8 IS NULL OR ($2::xid8, $3::bigint) = (place.xid, place.seq)
            OR EXISTS (SELECT FROM changes k WHERE k.party = $1 AND k.xid = $2::xid8 AND k.seq = $3::bigint) AS is_kept,
          (SELECT l.xid FROM changes l WHERE l.party = $1 AND l.xid >= place.horizon ORDER BY l.xid LIMIT 1) AS ahead, page.*
     FROM place LEFT JOIN LATERAL (
       SELECT ${select(changes)}, changes.xid, changes.seq FROM changes
        WHERE party = $1 AND xid < place.horizon
          AND (changes.xid, changes.seq) > (coalesce($2::xid8, place.xid), coalesce($3::bigint, place.seq))
        ORDER BY changes.xid, changes.seq LIMIT $4::int
     ) page ON true ORDER BY page.xid, page.seq`,
  object<PageRow>({
    start: position('start_'),
    isKept: cell('is_kept'),
    ahead: cell('ahead'),
    placed: { source: (row) => `${row.isNull('xid')} ? undefined : ${placed.source(row)}` } as Reader<
      PlacedChange | undefined
    >,
  }),
);

/**
 * The changes of a party behind a position, in order; undefined where the log no longer holds what was at the position, so
 * that something behind it may be missing.
 */
export async function readChanges(
  db: Queryable,
  party: string,
  after: Position | 'OLDEST',
  limit: number,
): Promise<ChangePage | undefined> {
  const from = after === 'OLDEST' ? [null, null] : [after.xid, after.seq];
  const rows = await db.query(PAGE, [party, ...from, limit]);
  const { isKept, start, ahead } = rows[0]!;
  if (!isKept) return undefined;
  const placed = rows.flatMap((row) => row.placed ?? []);
  const next = placed.at(-1)?.at ?? (after === 'OLDEST' ? start : after);
  return { changes: placed, next, ahead };
}

/**
 * The place of the last row of a party that can be read, or where its log begins: everything that is committed from now on
 * comes behind it.
 */
export const latestPosition = read.one(
  (party: string) => [party],
  'changes_latest',
  `SELECT xid, seq FROM (
     (SELECT xid, seq, 1 AS choice FROM changes WHERE party = $1 AND xid < pg_snapshot_xmin(pg_current_snapshot())
       ORDER BY xid DESC, seq DESC LIMIT 1)
     UNION ALL
     (SELECT xid, seq, 2 FROM changes_removed WHERE party = $1)
     UNION ALL
     (SELECT '0'::xid8, 0, 3)
   ) AS place ORDER BY choice LIMIT 1`,
  position(''),
);

/** Transactions take 8 s at most, so that times go back by less than 20 s in the order of the log. */
const OLDER = sql(
  'changes_older',
  `SELECT xid, seq FROM (
     SELECT xid, seq, time FROM changes WHERE party = $1 AND xid >= $2::xid8 AND xid < $3::xid8 ORDER BY xid, seq LIMIT 1
   ) AS first WHERE time < $4::timestamptz - interval '20 seconds'`,
  position(''),
);

/** Everything of the time or later comes behind it, and little else: found by bisecting the IDs of transactions. */
export async function positionBefore(db: Queryable, party: string, time: Timestamp): Promise<Position> {
  let place = (await readChanges(db, party, 'OLDEST', 0))!.next;
  let end = BigInt((await horizon(db)).xid);
  for (;;) {
    const middle = (BigInt(place.xid) + end) / 2n;
    if (middle <= BigInt(place.xid)) return place;
    const [older] = await db.query(OLDER, [party, middle, end, time]);
    if (older === undefined) end = middle;
    else place = older;
  }
}

/** Up to where changes can be read, and whether a running transaction holds it there. */
export const horizon = read.one(
  () => [],
  sql<{ xid: string; isHeld: boolean }>(
    'changes_horizon',
    `SELECT pg_snapshot_xmin(s) AS xid, pg_snapshot_xmin(s) < pg_snapshot_xmax(s) AS "isHeld" FROM pg_current_snapshot() s`,
  ),
);

const MOVED_ON = sql<{ party: string }>(
  'changes_moved_on',
  `SELECT party FROM unnest($1::text[], $2::xid8[], $3::bigint[]) AS place(party, xid, seq)
    WHERE EXISTS (SELECT FROM changes c WHERE c.party = place.party AND (c.xid, c.seq) > (place.xid, place.seq))`,
);

/** The parties that have a change behind their position. */
export async function movedOn(db: Queryable, places: { party: string; at: Position }[]): Promise<string[]> {
  const rows = await db.query(MOVED_ON, [
    places.map(({ party }) => party),
    places.map(({ at }) => at.xid),
    places.map(({ at }) => at.seq),
  ]);
  return rows.map(({ party }) => party);
}

/** One probe of the index for each party, whatever the length of the log. */
const OLD = sql<{ party: string }>(
  'changes_find_old',
  `WITH RECURSIVE p AS (
     (SELECT party FROM changes ORDER BY party LIMIT 1)
     UNION ALL
     SELECT (SELECT c.party FROM changes c WHERE c.party > p.party ORDER BY c.party LIMIT 1) FROM p
      WHERE p.party IS NOT NULL
   )
   SELECT p.party FROM p
    WHERE (SELECT c.time FROM changes c WHERE c.party = p.party ORDER BY c.xid, c.seq LIMIT 1) < $1::timestamptz
    LIMIT $2::int`,
);
/** Parties whose oldest change is from before the time. */
export async function findOldChanges(db: Queryable, before: Timestamp, limit: number): Promise<string[]> {
  return (await db.query(OLD, [before, limit])).map(({ party }) => party);
}

/** The oldest changes of a party from before the time; returns how many were removed. */
export const removeChanges = read.number(
  (party: string, before: Timestamp, batch: number) => [party, before, batch],
  'changes_remove',
  'SELECT remove_changes($1, $2, $3) AS n',
);
