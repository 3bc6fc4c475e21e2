/** Certificates that were revoked or put on hold, as long as measurements that rest on them are still to be failed. */
import type { RevocationState, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql, type Transaction } from './db.ts';
import { PENDING } from './measurements.ts';

export interface Cascade {
  party: string;
  /** ID of the party's certificate. */
  certificate: string;
  revocationState: RevocationState;
  actor: string;
  requestId: string;
}

const INSERT = sql(
  'cascade_insert',
  // From hold to revoked: what is still to be failed rested on it when it was put on hold, and is failed for that.
  `INSERT INTO revocation_cascades (party, certificate, revocation_state, time, actor, request_id)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (party, certificate) DO NOTHING`,
);

export function insertCascade(tx: Transaction, c: Cascade, now: Timestamp): void {
  tx.last(INSERT, [c.party, c.certificate, c.revocationState, now, c.actor, c.requestId]);
}

const EXISTS = sql(
  'cascade_exists',
  'SELECT 1 FROM revocation_cascades WHERE party = $1 AND certificate = $2',
);

export async function isCascading(db: Queryable, party: string, certificate: string): Promise<boolean> {
  return (await db.query(EXISTS, [party, certificate])).length > 0;
}

const COUNT = sql('cascade_count', 'SELECT count(*)::int AS n FROM revocation_cascades');

export async function countCascades(db: Queryable): Promise<number> {
  return (await db.query<{ n: number }>(COUNT, []))[0]!.n;
}

/** A place in the order of pending measurements; the time is a text because it may be `-infinity`. */
export interface Place {
  time: string;
  id: string;
}

const LOCK_NEXT = sql(
  'cascade_lock_next',
  `SELECT party, certificate, revocation_state AS "revocationState", actor, request_id AS "requestId",
          done_time::text AS time, done_id AS id
     FROM revocation_cascades
    WHERE (done_time, done_id) =
          (SELECT done_time, done_id FROM revocation_cascades ORDER BY time, party, certificate LIMIT 1)
    ORDER BY party, certificate LIMIT $1 FOR UPDATE SKIP LOCKED`,
);

/**
 * The oldest that no other replica is at, with those that have come as far. They go on together: whoever revokes
 * a thousand certificates at once makes the others wait for one pass over what is pending, not for a thousand.
 */
export function lockNextCascades(tx: Transaction, limit: number): Promise<(Cascade & Place)[]> {
  return tx.query(LOCK_NEXT, [limit]);
}

const NEXT_PENDING = sql(
  'cascade_next_pending',
  `WITH revoked AS MATERIALIZED (
     SELECT * FROM unnest($1::text[], $2::text[]) AS r(party, certificate)
   ), next AS MATERIALIZED (
     SELECT m.id, m.create_time AS time, m.consumer, m.certificate FROM measurements m
      WHERE ${PENDING} AND (m.create_time, m.id) > ($3::timestamptz, $4)
      ORDER BY m.create_time, m.id LIMIT $5::int
   )
   SELECT next.id, next.time,
          (next.consumer, next.certificate) IN (SELECT * FROM revoked) OR coalesce(provided.rests, false) AS rests
     FROM next CROSS JOIN LATERAL (
       SELECT bool_or((r.provider, r.certificate) IN (SELECT * FROM revoked)
                   OR (r.provider, r.result_certificate) IN (SELECT * FROM revoked)) AS rests
         FROM requisitions r WHERE r.measurement = next.id
     ) AS provided ORDER BY next.time, next.id`,
);

/** The pending measurements behind this place, and whether they rest on one of the certificates. */
export function nextPending(
  tx: Transaction,
  cascades: Cascade[],
  after: Place,
  limit: number,
): Promise<(Place & { rests: boolean })[]> {
  return tx.query(NEXT_PENDING, [...keys(cascades), after.time, after.id, limit]);
}

const ADVANCE = sql(
  'cascade_advance',
  `UPDATE revocation_cascades SET done_time = $3, done_id = $4
    WHERE (party, certificate) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
);

/** Pending measurements up to this place are done. */
export function advanceCascades(tx: Transaction, cascades: Cascade[], done: Place): void {
  tx.last(ADVANCE, [...keys(cascades), done.time, done.id]);
}

const DELETE = sql(
  'cascade_delete',
  `DELETE FROM revocation_cascades
    WHERE (party, certificate) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
);

export function deleteCascades(tx: Transaction, cascades: Cascade[]): void {
  tx.last(DELETE, keys(cascades));
}

function keys(cascades: Cascade[]): [parties: string[], certificates: string[]] {
  return [cascades.map((c) => c.party), cascades.map((c) => c.certificate)];
}
