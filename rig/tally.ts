/** Counts of a run beside its checked operations, and the minimum of each. */
/** How much is done: a slice of seconds for `npm test`, minutes before a change lands, or hours. */
export type Scale = 'slice' | 'short' | 'long';

export interface Tally {
  exchangeKills: number;
  postgresKills: number;
  /** Processes of duchies. */
  duchyKills: number;
  failovers: number;
  fuzzRequests: number;
  /** Writes that were acknowledged and are not there. */
  lostAcknowledgements: number;
  /** Responses with 5xx other than 503 and 504. */
  serverErrors: number;
  /** The longest from the end of a fault to the next success; 0 where there was no fault. */
  firstSuccessMs: number;
}

export function emptyTally(): Tally {
  return {
    exchangeKills: 0,
    postgresKills: 0,
    duchyKills: 0,
    failovers: 0,
    fuzzRequests: 0,
    lostAcknowledgements: 0,
    serverErrors: 0,
    firstSuccessMs: 0,
  };
}

export function addTallies(tallies: readonly Tally[]): Tally {
  const total = emptyTally();
  for (const tally of tallies) {
    for (const key of Object.keys(total) as (keyof Tally)[]) {
      const [a, b] = [total[key], tally[key]];
      total[key] = key === 'firstSuccessMs' ? Math.max(a, b) : a + b;
    }
  }
  return total;
}

/** Counts of a whole run, summed over all harnesses. */
export type Total = Tally & { operations: number };

type Wanted = Partial<Record<keyof Total, number>>;

/** At least so many; a slice is only to show that everything runs. */
export const TARGETS: Record<Scale, Wanted> = {
  slice: {},
  short: { operations: 30_000, exchangeKills: 30, postgresKills: 10, duchyKills: 6, fuzzRequests: 20_000 },
  long: {
    operations: 1_000_000,
    exchangeKills: 500,
    postgresKills: 150,
    duchyKills: 150,
    failovers: 25,
    fuzzRequests: 500_000,
  },
};

/** `12 of 30 exchangeKills`, for whatever a whole run should have reached and did not. */
export function shortfalls(scale: Scale, total: Total): string[] {
  return (Object.entries(TARGETS[scale]) as [keyof Total, number][])
    .filter(([key, wanted]) => total[key] < wanted)
    .map(([key, wanted]) => `${total[key]} of ${wanted} ${key}`);
}
