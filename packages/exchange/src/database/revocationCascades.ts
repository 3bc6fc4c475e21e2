/**
 * Stores the progress of revocation cascades. A cascade starts when a certificate is revoked or put on hold. The
 * cascade fails the pending measurements that depend on the certificate, one batch at a time.
 */
import type { RevocationState, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { sql, type Transaction } from './db.ts';
import { PENDING } from './measurements.ts';
import { inTransaction, read } from './run.ts';
import { column, insertText, select, table, values } from './table.ts';

export interface Cascade {
  party: string;
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
  (cascade: Cascade, now: Timestamp) => [...values(cascades.columns, cascade), now],
  'cascade_insert',
  // A certificate on hold can be revoked before its cascade ends. The row then stays unchanged, and the failures of the
  // remaining measurements still name the hold as the reason.
  `${insertText(cascades, ['time'])} ON CONFLICT (party, certificate) DO NOTHING`,
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

/**
 * A position in the list of pending measurements, which is sorted by creation time and ID. The time is text, because it
 * may be `-infinity`.
 */
export interface Place {
  time: string;
  id: string;
}

/**
 * Locks at most `$1` cascades that have reached the same position as the oldest cascade. Skips cascades that another
 * replica has locked. The locked cascades proceed together, so that many revocations need few passes over the pending
 * measurements.
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

const NEXT = `
  SELECT m.id, m.create_time AS time, m.consumer, m.certificate, m.protocol FROM measurements m
   WHERE ${PENDING} AND (m.create_time, m.id) > ($3::timestamptz, $4) ORDER BY m.create_time, m.id LIMIT $5::int`;
/**
 * Searches the next `$5` pending measurements after the position `$3, $4`. Returns the first `$6` of them that depend
 * on one of the certificates. Also returns the last measurement searched, unless fewer than `$5` were left. Uses
 * bool_or, because PostgreSQL would read all requisitions into a hash table for EXISTS.
 */
const NEXT_DEPENDENT = sql<Place & { depends: boolean }>(
  'cascade_next_dependent',
  `WITH revoked AS MATERIALIZED (
     SELECT * FROM unnest($1::text[], $2::text[]) AS r(party, certificate)
   )
   (SELECT id, time, true AS depends FROM (${NEXT}) AS next
     WHERE (consumer, certificate) IN (SELECT * FROM revoked)
        OR (SELECT bool_or((r.provider, r.certificate) IN (SELECT * FROM revoked)
                        OR (r.provider, r.result_certificate) IN (SELECT * FROM revoked))
              FROM requisitions r WHERE r.measurement = next.id)
        OR protocol <> 'direct' AND (
             SELECT bool_or((c.duchy, c.certificate) IN (SELECT * FROM revoked)) FROM computations c WHERE c.id = next.id)
     ORDER BY time, id LIMIT $6::int)
   UNION ALL
   (SELECT id, time, false FROM (${NEXT}) AS next ORDER BY time, id OFFSET $5::int - 1)
   ORDER BY depends DESC, time, id`,
);

/**
 * Searches the next `looked` pending measurements and returns the IDs of the first `limit` dependent ones. `upTo` is
 * the position at which the search stopped, or undefined if the search ran out of pending measurements.
 */
export async function nextDependent(
  tx: Transaction,
  revoked: Cascade[],
  after: Place,
  { looked, limit }: { looked: number; limit: number },
): Promise<{ ids: string[]; upTo: Place | undefined }> {
  const rows = await tx.query(NEXT_DEPENDENT, [...keys(revoked), after.time, after.id, looked, limit]);
  const found = rows.filter(({ depends }) => depends);
  const end = rows.find(({ depends }) => !depends);
  return { ids: found.map(({ id }) => id), upTo: found.length === limit ? found.at(-1) : end };
}

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
