/** The counts of a run in addition to its checked operations, and the minimum counts that a run must reach. */
/** How much a run does: a slice takes seconds, a short run minutes, a long run hours. */
export type Scale = 'slice' | 'short' | 'long';

export interface Tally {
  exchangeKills: number;
  postgresKills: number;
  /** The number of killed duchy processes. */
  duchyKills: number;
  failovers: number;
  fuzzRequests: number;
  /** Acknowledged writes that are missing. */
  lostAcknowledgements: number;
  /** 5xx responses other than 503 and 504. */
  serverErrors: number;
  /** The longest time from the end of a fault to the next success; 0 if there was no fault. */
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

/** The counts of a whole run, summed over all harnesses. Only `firstSuccessMs` is the maximum instead of the sum. */
export type Total = Tally & { operations: number };

type Wanted = Partial<Record<keyof Total, number>>;

/** The minimum counts of a whole run. A slice has no minimum counts, because it only shows that everything runs. */
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

/** Returns a line such as `12 of 30 exchangeKills` for each target that the run missed. */
export function shortfalls(scale: Scale, total: Total): string[] {
  return (Object.entries(TARGETS[scale]) as [keyof Total, number][])
    .filter(([key, wanted]) => total[key] < wanted)
    .map(([key, wanted]) => `${total[key]} of ${wanted} ${key}`);
}
