/** Certificates that were revoked or put on hold, as long as measurements that rest on them are still to be failed. */
import type { RevocationState, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { sql, type Transaction } from './db.ts';
import { PENDING } from './measurements.ts';
import { inTransaction, read } from './run.ts';
import { column, names, parameters, select, table, values } from './table.ts';

export interface Cascade {
  party: string;
  /** ID of the party's certificate. */
  certificate: string;
  revocationState: RevocationState;
  actor: string;
  requestId: string;
}

const cascades = table<Cascade>('revocation_cascades', {
  party: column('party'),
  certificate: column('certificate'),
  revocationState: column('revocation_state'),
  actor: column('actor'),
  requestId: column('request_id'),
});

export const insertCascade = inTransaction.last(
  (cascade: Cascade, now: Timestamp) => [now, ...values(cascades.columns, cascade)],
  'cascade_insert',
  // From hold to revoked: what is still to be failed rested on it when it was put on hold, and is failed for that.
  `INSERT INTO revocation_cascades (time, ${names(cascades.columns)})
   VALUES ($1, ${parameters(cascades.columns, 2)}) ON CONFLICT (party, certificate) DO NOTHING`,
);

export const isCascading = read.exists(
  (party: string, certificate: string) => [party, certificate],
  'cascade_exists',
  'SELECT 1 FROM revocation_cascades WHERE party = $1 AND certificate = $2',
);

export const countCascades = read.number(
  () => [],
  'cascade_count',
  'SELECT count(*)::int AS n FROM revocation_cascades',
);

/** A place in the order of pending measurements; the time is a text because it may be `-infinity`. */
export interface Place {
  time: string;
  id: string;
}

/**
 * The oldest that no other replica works on, with those that have come as far. They continue together: a thousand
 * revocations at once cost one pass over the pending measurements, not a thousand.
 */
export const lockNextCascades = inTransaction.all(
  (limit: number) => [limit],
  'cascade_lock_next',
  `SELECT ${select(cascades)}, done_time::text AS time, done_id AS id FROM revocation_cascades
    WHERE (done_time, done_id) =
          (SELECT done_time, done_id FROM revocation_cascades ORDER BY time, party, certificate LIMIT 1)
    ORDER BY party, certificate LIMIT $1 FOR UPDATE SKIP LOCKED`,
  object({ cascade: cascades.reader(), done: object<Place>({ time: cell('time'), id: cell('id') }) }),
);

/** The pending measurements that are looked at. */
const NEXT = `
  SELECT m.id, m.create_time AS time, m.consumer, m.certificate, m.protocol FROM measurements m
   WHERE ${PENDING} AND (m.create_time, m.id) > ($3::timestamptz, $4) ORDER BY m.create_time, m.id LIMIT $5::int`;
/**
 * Those that rest on one of the certificates, in order, so that it stops at the last one that is wanted; then the last one
 * of all, in the same snapshot. EXISTS would let the planner read all requisitions into a hash table.
 */
const NEXT_RESTING = sql<Place & { rests: boolean }>(
  'cascade_next_resting',
  `WITH revoked AS MATERIALIZED (
     SELECT * FROM unnest($1::text[], $2::text[]) AS r(party, certificate)
   )
   (SELECT id, time, true AS rests FROM (${NEXT}) AS next
     WHERE (consumer, certificate) IN (SELECT * FROM revoked)
        OR (SELECT bool_or((r.provider, r.certificate) IN (SELECT * FROM revoked)
                        OR (r.provider, r.result_certificate) IN (SELECT * FROM revoked))
              FROM requisitions r WHERE r.measurement = next.id)
        OR protocol <> 'direct' AND (
             SELECT bool_or((c.duchy, c.certificate) IN (SELECT * FROM revoked)) FROM computations c WHERE c.id = next.id)
     ORDER BY time, id LIMIT $6::int)
   UNION ALL
   (SELECT id, time, false FROM (${NEXT}) AS next ORDER BY time, id OFFSET $5::int - 1)
   ORDER BY rests DESC, time, id`,
);

export interface Resting {
  /** In order. */
  ids: string[];
  /** Up to here all are found; undefined where none are left behind them. */
  upTo: Place | undefined;
}

/** Finds the first `limit` measurements that rest on one of the certificates, among `looked` pending ones after this place. */
export async function nextResting(
  tx: Transaction,
  revoked: Cascade[],
  after: Place,
  { looked, limit }: { looked: number; limit: number },
): Promise<Resting> {
  const rows = await tx.query(NEXT_RESTING, [...keys(revoked), after.time, after.id, looked, limit]);
  const resting = rows.filter(({ rests }) => rests);
  const end = rows.find(({ rests }) => !rests);
  return {
    ids: resting.map(({ id }) => id),
    upTo: resting.length === limit ? resting.at(-1) : end,
  };
}

/** Pending measurements up to this place are done. */
export const advanceCascades = inTransaction.last(
  (advanced: Cascade[], done: Place) => [...keys(advanced), done.time, done.id],
  'cascade_advance',
  `UPDATE revocation_cascades SET done_time = $3, done_id = $4
    WHERE (party, certificate) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
);

export const deleteCascades = inTransaction.last(
  (completed: Cascade[]) => keys(completed),
  'cascade_delete',
  `DELETE FROM revocation_cascades
    WHERE (party, certificate) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
);

function keys(of: Cascade[]): [parties: string[], certificates: string[]] {
  return [of.map((c) => c.party), of.map((c) => c.certificate)];
}
