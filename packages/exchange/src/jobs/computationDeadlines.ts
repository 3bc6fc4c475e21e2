/** Fails computations that have waited too long, and names the parties that caused the wait. */
import { findOverdue, latestReports } from '../database/computations.ts';
import { lockMeasurements } from '../database/measurements.ts';
import { saveMeasurements } from '../database/writeMeasurements.ts';
import { type Deadlines, expireComputation, WAITING, type WaitingState } from '../domain/deadlines.ts';
import { computationState } from '../domain/participants.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';

type Store = Pick<Exchange, 'db' | 'clock'>;

/**
 * The maximum number of computations per transaction. The number is small, so that no transaction holds locks for long.
 */
const BATCH = 50;
const AUTHOR = { actor: 'deadline', requestId: 'deadline', findings: [] };

export async function failOverdueComputations(exchange: Store, deadlines: Deadlines): Promise<boolean> {
  let more = false;
  for (const state of Object.keys(WAITING) as WaitingState[]) {
    more = (await failOverdue(exchange, deadlines, state)) || more;
  }
  return more;
}

function failOverdue(exchange: Store, deadlines: Deadlines, state: WaitingState): Promise<boolean> {
  return exchange.db.tx('failOverdueComputations', async (tx) => {
    const now = exchange.clock();
    const ids = await findOverdue[state](tx, hoursBefore(now, deadlines[WAITING[state]]), BATCH);
    if (ids.length === 0) return false;
    const [pending, reports] = await Promise.all([lockMeasurements(tx, ids), latestReports(tx, ids)]);
    // Skip computations that have stopped waiting since they were found.
    const failed = pending
      .filter((aggregate) => computationState(aggregate) === state)
      .map((before) => {
        const own = reports.filter(({ computation }) => computation === before.measurement.id);
        return { before, change: expireComputation(before, state, own, deadlines, now) };
      });
    if (failed.length > 0) saveMeasurements(tx, failed, AUTHOR);
    return ids.length === BATCH;
  });
}
