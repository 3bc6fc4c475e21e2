/** Reads a party's change log. The rows of the log are sorted by transaction ID. */
import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object, optionalCell, type Reader } from '@measurement-exchange/server/database';
import type { ChangeRecord } from '../domain/changes.ts';
import { type Queryable, sql } from './db.ts';
import { read } from './run.ts';
import { select } from './table.ts';
import { changes } from './versions.ts';

/**
 * The position of a row in a party's change log, or of the log's start. `xid` must be 0 or the transaction ID of a
 * stored row. PostgreSQL may reuse any other ID after a crash, and a reader whose position has a reused ID would miss
 * changes.
 */
export interface Position {
  /** A transaction ID as a decimal number. */
  xid: string;
  seq: bigint;
}

export interface PlacedChange {
  change: ChangeRecord;
  at: Position;
}

export interface ChangePage {
  changes: PlacedChange[];
  next: Position;
  /**
   * Set if committed changes of the party cannot be read yet, because an older transaction is still running. The value
   * is the ID of the first transaction that wrote such changes.
   */
  ahead: string | undefined;
}

interface PageRow {
  start: Position;
  isKept: boolean;
  ahead: string | undefined;
  /** Undefined if the page is empty: PAGE then returns one row without a change. */
  placed: PlacedChange | undefined;
}

const position = (prefix: string) =>
  object<Position>({ xid: cell(`${prefix}xid`), seq: cell(`${prefix}seq`) });
const placed = object<PlacedChange>({ change: changes.reader(), at: position('') });

/**
 * Parameters: `$1` party, `$2` and `$3` position (null for the oldest row), `$4` limit. The horizon is the ID of the
 * oldest running transaction. Rows at or after the horizon are not read, because a running transaction can still insert
 * rows before them.
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
    ahead: optionalCell('ahead'),
    placed: { source: (row) => `${row.isNull('xid')} ? undefined : ${placed.source(row)}` } as Reader<
      PlacedChange | undefined
    >,
  }),
);

/**
 * Reads a party's changes after a position. Returns undefined if retention has removed the row at that position,
 * because later rows that the caller has not read may be gone too.
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
 * Returns the last readable position of a party's change log. Changes that commit from now on come after this position.
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

/**
 * Returns the position before the newest `count` readable rows of a party's change log. Returns undefined if the log
 * has at most `count` readable rows.
 */
export const positionBeforeNewest = read.first(
  (party: string, count: number) => [party, count],
  'changes_before_newest',
  `SELECT xid, seq FROM changes WHERE party = $1 AND xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY xid DESC, seq DESC OFFSET $2::int LIMIT 1`,
  position(''),
);

/**
 * Finds the first row whose transaction ID is at least `$2` and below `$3`. Returns this row only if its time is more
 * than 20 seconds before `$4`. Rows are sorted by transaction ID, so their times can be out of order by seconds. The
 * margin of 20 seconds ensures that all earlier rows were also written before `$4`.
 */
const OLDER = sql(
  'changes_older',
  `SELECT xid, seq FROM (
     SELECT xid, seq, time FROM changes WHERE party = $1 AND xid >= $2::xid8 AND xid < $3::xid8 ORDER BY xid, seq LIMIT 1
   ) AS first WHERE time < $4::timestamptz - interval '20 seconds'`,
  position(''),
);

/** Finds a position shortly before the first change since `time`, by a binary search over transaction IDs. */
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

/**
 * Returns the first transaction ID whose changes cannot be read yet. `isHeld` is true if this transaction is still
 * running. Until it ends, the changes of later transactions cannot be read either.
 */
export const horizon = read.one(
  () => [],
  sql<{ xid: string; isHeld: boolean }>(
    'changes_horizon',
    `SELECT pg_snapshot_xmin(s) AS xid, pg_snapshot_xmin(s) < pg_snapshot_xmax(s) AS "isHeld" FROM pg_current_snapshot() s`,
  ),
);

export const movedOn = read.all(
  (places: { party: string; at: Position }[]) => [
    places.map(({ party }) => party),
    places.map(({ at }) => at.xid),
    places.map(({ at }) => at.seq),
  ],
  'changes_moved_on',
  `SELECT party FROM unnest($1::text[], $2::xid8[], $3::bigint[]) AS place(party, xid, seq)
    WHERE EXISTS (SELECT FROM changes c WHERE c.party = place.party AND (c.xid, c.seq) > (place.xid, place.seq))`,
  cell<string>('party'),
);

/** Finds parties whose oldest change is older than `before`, with one index lookup per party. */
export const findOldChanges = read.all(
  (before: Timestamp, limit: number) => [before, limit],
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
  cell<string>('party'),
);

export const removeChanges = read.number(
  (party: string, before: Timestamp, batch: number) => [party, before, batch],
  'changes_remove',
  'SELECT remove_changes($1, $2, $3) AS n',
);
