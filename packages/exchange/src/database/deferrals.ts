/** Reads and stores the deferrals of requisitions. `saveDeferral` leaves the requisition's version unchanged. */
import type { Deferral, Timestamp } from '@measurement-exchange/contract';
import type { EarlierDeferrals } from '../domain/measurement.ts';
import { inTransaction } from './run.ts';
import { column, optional, table } from './table.ts';

const earlier = table<EarlierDeferrals>('requisitions', {
  logged: column('logged', 'int'),
  lastTime: optional('deferral_time', 'time'),
});

/**
 * Counts a requisition's deferrals in the transition log, and reads the time of the last deferral. The caller must
 * have locked the measurement.
 */
export const earlierDeferrals = inTransaction.one(
  (requisition: string) => [requisition],
  'requisition_earlier_deferrals',
  `SELECT r.deferral_time, (SELECT count(*)::int FROM transitions t
      WHERE t.measurement = r.measurement AND t.requisition = r.id AND t.cause = 'deferred') AS logged
     FROM requisitions r WHERE r.id = $1`,
  earlier.reader(),
);

export const saveDeferral = inTransaction.last(
  (requisition: string, { reason, until }: Deferral, now: Timestamp) => [requisition, reason, until, now],
  'requisition_defer',
  'UPDATE requisitions SET deferral_reason = $2, deferral_until = $3, deferral_time = $4 WHERE id = $1',
);
