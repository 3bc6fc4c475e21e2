/** How often a requisition was deferred, and deferrals that replace the last one without a version of their own. */
import type { Deferral, Timestamp } from '@measurement-exchange/contract';
import type { EarlierDeferrals } from '../domain/measurement.ts';
import { sql, type Transaction } from './db.ts';
import { inTransaction } from './run.ts';

const EARLIER = sql<{ logged: bigint; deferral_time: Timestamp | null }>(
  'requisition_earlier_deferrals',
  `SELECT r.deferral_time, (SELECT count(*) FROM transitions t
      WHERE t.measurement = r.measurement AND t.requisition = r.id AND t.cause = 'deferred') AS logged
     FROM requisitions r WHERE r.id = $1`,
);

/** Reads the deferrals of a requisition whose measurement is locked. */
export async function earlierDeferrals(tx: Transaction, requisition: string): Promise<EarlierDeferrals> {
  const [row] = await tx.query(EARLIER, [requisition]);
  return { logged: Number(row!.logged), lastTime: row!.deferral_time ?? undefined };
}

export const saveDeferral = inTransaction.last(
  (requisition: string, { reason, until }: Deferral, now: Timestamp) => [requisition, reason, until, now],
  'requisition_defer',
  'UPDATE requisitions SET deferral_reason = $2, deferral_until = $3, deferral_time = $4 WHERE id = $1',
);
