/** Cancels measurements that have been pending too long, and replaces old terminal measurements with tombstones. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { Config } from '../config/config.ts';
import { lockMeasurements } from '../database/measurements.ts';
import { expiredMeasurements, removeMeasurements } from '../database/retention.ts';
import { saveMeasurements } from '../database/writeMeasurements.ts';
import { cancel } from '../domain/measurement.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';

export type Retention = NonNullable<Config['retention']>;
export type RetentionCounts = { cancel: number; remove: number };

/** The functions below use only these members, because maintenance.ts calls them without a running exchange. */
type Store = Pick<Exchange, 'db' | 'clock'>;

/**
 * The maximum numbers of measurements per transaction. The numbers are small, so that no transaction holds locks for
 * long.
 */
const CANCEL_BATCH = 50;
const REMOVE_BATCH = 200;
const AUTHOR = { actor: 'retention', requestId: 'retention', findings: [] };

/**
 * Cancels one batch of pending measurements and removes one batch of terminal measurements. Returns true if there may
 * be more to do.
 */
export async function applyRetention(exchange: Store, retention: Retention): Promise<boolean> {
  const { pending, terminal } = cutoffsOf(exchange.clock(), retention);
  const moreToCancel = pending !== undefined && (await cancelPending(exchange, pending));
  const moreToRemove = terminal !== undefined && (await removeTerminal(exchange, terminal));
  return moreToCancel || moreToRemove;
}

export async function previewRetention(exchange: Store, retention: Retention): Promise<RetentionCounts> {
  const cutoffs = cutoffsOf(exchange.clock(), retention);
  return {
    cancel:
      cutoffs.pending === undefined
        ? 0
        : await expiredMeasurements.pending.count(exchange.db, cutoffs.pending),
    remove:
      cutoffs.terminal === undefined
        ? 0
        : await expiredMeasurements.terminal.count(exchange.db, cutoffs.terminal),
  };
}

function cutoffsOf(now: Timestamp, retention: Retention) {
  const before = (days: number | undefined) => (days === undefined ? undefined : hoursBefore(now, days * 24));
  return {
    pending: before(retention.cancelPendingAfterDays),
    terminal: before(retention.removeTerminalAfterDays),
  };
}

function cancelPending(exchange: Store, cutoff: Timestamp): Promise<boolean> {
  return exchange.db.tx('cancelPendingMeasurements', async (tx) => {
    const ids = await expiredMeasurements.pending.find(tx, cutoff, CANCEL_BATCH);
    if (ids.length === 0) return false;
    const now = exchange.clock();
    // `lockMeasurements` skips measurements that have ended since they were found.
    const cancelled = (await lockMeasurements(tx, ids)).map((before) => ({
      before,
      change: cancel(before, now, 'expired'),
    }));
    if (cancelled.length > 0) saveMeasurements(tx, cancelled, AUTHOR);
    return ids.length === CANCEL_BATCH;
  });
}

/**
 * Removes one batch, except measurements that another replica has locked. Returns true if there may be more to
 * remove. If all measurements of the batch are locked, returns false, because the other replica removes them.
 */
function removeTerminal(exchange: Store, cutoff: Timestamp): Promise<boolean> {
  return exchange.db.tx('removeTerminalMeasurements', async (tx) => {
    const ids = await expiredMeasurements.terminal.find(tx, cutoff, REMOVE_BATCH);
    if (ids.length === 0) return false;
    const removed = await removeMeasurements(tx, ids, exchange.clock());
    return ids.length === REMOVE_BATCH && removed > 0;
  });
}
