import {
  MAX_COUNT,
  PENDING_MEASUREMENT_STATES,
  type StateCount,
  TERMINAL_MEASUREMENT_STATES,
} from '@measurement-exchange/contract';
import {
  countEnded,
  countOpen,
  lastMigration,
  type MeasurementCount,
} from '../../database/exchangeStatus.ts';
import { listReplicas } from '../../database/replicas.ts';
import { hoursBefore } from '../../domain/time.ts';
import type { Handler } from '../context.ts';

const SEEN_HOURS = 3 / 60;
const ENDED_HOURS = 24;

export const getExchangeStatus: Handler<'getExchangeStatus'> = async ({ db, clock, replica, mode }) => {
  const time = clock();
  const endedSince = hoursBefore(time, ENDED_HOURS);
  const [schema, stored, open, ended] = await Promise.all([
    lastMigration(db),
    listReplicas(db, hoursBefore(time, SEEN_HOURS)),
    countOpen(db),
    countEnded(db, endedSince),
  ]);
  // Always list this replica, because its row may be missing or outdated.
  const others = stored.filter(({ id }) => id !== replica.id);
  const replicas = [...others, { ...replica, lastSeen: time }].sort((a, b) =>
    a.startTime < b.startTime ? -1 : 1,
  );
  const more = totalOf(ended) > MAX_COUNT || undefined;
  return {
    time,
    version: replica.version,
    mode,
    schema,
    replicas: replicas.map(({ id: name, ...shown }) => ({ name, ...shown })),
    measurements: {
      open: countsOf(PENDING_MEASUREMENT_STATES, open),
      endedSince,
      ended: countsOf(TERMINAL_MEASUREMENT_STATES, ended),
      refused: { count: Math.min(MAX_COUNT, ended.find(({ refused }) => refused > 0)?.refused ?? 0), more },
    },
  };
};

function totalOf(counts: MeasurementCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Returns a count for each state. If counting stopped at the limit, sets `more` for every state, because each state may
 * have more measurements.
 */
function countsOf(states: readonly string[], counts: MeasurementCount[]): StateCount[] {
  const more = totalOf(counts) > MAX_COUNT || undefined;
  return states.map((state) => {
    const count = counts.find((one) => one.state === state)?.count ?? 0;
    return { state, count: Math.min(count, MAX_COUNT), more };
  });
}
