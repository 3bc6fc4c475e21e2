const MAX_PAUSE_MS = 60_000;

/** The computations that could not be updated, each with its number of failures and the time of its next retry. */
export class Postponed {
  private readonly entries = new Map<string, { failures: number; retryAt: number }>();
  private readonly pauseMs: number;

  constructor(pauseMs: number) {
    this.pauseMs = pauseMs;
  }

  /** Schedules a retry. The first retry is due immediately, and later pauses roughly double with each failure. */
  add(computation: string): void {
    const failures = (this.entries.get(computation)?.failures ?? 0) + 1;
    const pauseMs = Math.min(this.pauseMs * (2 ** (failures - 1) - 1), MAX_PAUSE_MS);
    this.entries.set(computation, { failures, retryAt: Date.now() + pauseMs });
  }

  delete(computation: string): void {
    this.entries.delete(computation);
  }

  /** Returns the computations whose retry is due. The array is a copy, because a retry changes the entries. */
  due(): string[] {
    const now = Date.now();
    return [...this.entries].filter(([, { retryAt }]) => now >= retryAt).map(([computation]) => computation);
  }

  retryTimes(): number[] {
    return Array.from(this.entries.values(), ({ retryAt }) => retryAt);
  }
}
