/** Computations that wait for a duchy for too long are failed, and say for whom they waited. */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { findOverdue } from '../database/computations.ts';
import { lockMeasurements } from '../database/measurements.ts';
import { saveMeasurements } from '../database/writeMeasurements.ts';
import { type Deadlines, expireComputation } from '../domain/computation.ts';
import { computationState } from '../domain/participants.ts';
import type { Exchange } from '../operations/context.ts';

type Store = Pick<Exchange, 'db' | 'clock'>;

/** Measurements a transaction fails at most: its locks are gone before anyone waits for long. */
const BATCH = 50;
const AUTHOR = { actor: 'deadline', requestId: 'deadline', findings: [] };

/** A batch of each kind; true while there may be more. */
export async function failOverdueComputations(exchange: Store, deadlines: Deadlines): Promise<boolean> {
  const { parametersWithinHours, computeWithinHours } = deadlines;
  const moreParameters = await failOverdue(exchange, deadlines, 'parameters', parametersWithinHours);
  const moreResults = await failOverdue(exchange, deadlines, 'result', computeWithinHours);
  return moreParameters || moreResults;
}

const STATES = { parameters: 'PENDING_PARAMS', result: 'COMPUTING' } as const;

function failOverdue(
  exchange: Store,
  deadlines: Deadlines,
  waitingFor: keyof typeof STATES,
  hours: number,
): Promise<boolean> {
  return exchange.db.tx('failOverdueComputations', async (tx) => {
    const now = exchange.clock();
    const ids = await findOverdue(tx, waitingFor, hoursBefore(now, hours), BATCH);
    if (ids.length === 0) return false;
    // Only those that still wait: what they waited for may have come since they were found.
    const waiting = (await lockMeasurements(tx, ids)).filter(
      (aggregate) => computationState(aggregate) === STATES[waitingFor],
    );
    const failed = waiting.map((before) => ({ before, change: expireComputation(before, deadlines, now) }));
    if (failed.length > 0) saveMeasurements(tx, failed, AUTHOR);
    return ids.length === BATCH;
  });
}

function hoursBefore(now: Timestamp, hours: number): Timestamp {
  return timestampOf(Date.parse(now) - hours * 3600_000);
}
