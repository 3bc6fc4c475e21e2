/** Retention: measurements pending for too long are cancelled, old terminal ones are replaced by tombstones. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { Config } from '../config/config.ts';
import { lockMeasurements } from '../database/measurements.ts';
import { countExpired, findExpired, removeMeasurements } from '../database/retention.ts';
import { saveMeasurements } from '../database/writeMeasurements.ts';
import { cancel } from '../domain/measurement.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';

export type Retention = NonNullable<Config['retention']>;

/** The parts of an exchange that retention needs: maintenance runs it without an exchange. */
type Store = Pick<Exchange, 'db' | 'clock'>;

/** Rows a transaction touches at most: its locks are gone before anyone waits for long. */
const CANCEL_BATCH = 50;
const REMOVE_BATCH = 200;
const AUTHOR = { actor: 'retention', requestId: 'retention', findings: [] };

/** A batch of each; true while there may be more. Replicas do not remove twice: they pass over what another one holds. */
export async function applyRetention(exchange: Store, retention: Retention): Promise<boolean> {
  const { pending, terminal } = cutoffsOf(exchange.clock(), retention);
  const moreToCancel = pending !== undefined && (await cancelPending(exchange, pending));
  const moreToRemove = terminal !== undefined && (await removeTerminal(exchange, terminal));
  return moreToCancel || moreToRemove;
}

/** How many measurements a run would cancel and remove now. */
export async function previewRetention(
  exchange: Store,
  retention: Retention,
): Promise<{ cancel: number; remove: number }> {
  const cutoffs = cutoffsOf(exchange.clock(), retention);
  return {
    cancel: cutoffs.pending === undefined ? 0 : await countExpired(exchange.db, 'pending', cutoffs.pending),
    remove:
      cutoffs.terminal === undefined ? 0 : await countExpired(exchange.db, 'terminal', cutoffs.terminal),
  };
}

function cutoffsOf(now: Timestamp, retention: Retention) {
  const before = (days: number | undefined) => (days === undefined ? undefined : hoursBefore(now, days * 24));
  return {
    pending: before(retention.cancelPendingAfterDays),
    terminal: before(retention.removeTerminalAfterDays),
  };
}

/** True while there may be more. */
function cancelPending(exchange: Store, cutoff: Timestamp): Promise<boolean> {
  return exchange.db.tx('cancelPendingMeasurements', async (tx) => {
    const ids = await findExpired(tx, 'pending', cutoff, CANCEL_BATCH);
    if (ids.length === 0) return false;
    const now = exchange.clock();
    // Only those that are still pending: one may have ended since it was found.
    const cancelled = (await lockMeasurements(tx, ids)).map((before) => ({
      before,
      change: cancel(before, now, 'expired'),
    }));
    if (cancelled.length > 0) saveMeasurements(tx, cancelled, AUTHOR);
    return ids.length === CANCEL_BATCH;
  });
}

/** True while there may be more. Where another replica holds all that was found, it does the rest as well. */
function removeTerminal(exchange: Store, cutoff: Timestamp): Promise<boolean> {
  return exchange.db.tx('removeTerminalMeasurements', async (tx) => {
    const ids = await findExpired(tx, 'terminal', cutoff, REMOVE_BATCH);
    if (ids.length === 0) return false;
    const removed = await removeMeasurements(tx, ids, exchange.clock());
    return ids.length === REMOVE_BATCH && removed > 0;
  });
}
