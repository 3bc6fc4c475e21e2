/** Limits how much of this duchy's capacity one sender can use. */
import { ExchangeError } from '@measurement-exchange/contract';

const MINUTE_MS = 60_000;
const MAX_KEYS = 10_000;

export function addTo(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** Counts failures per key in the current minute. Throws RATE_LIMITED if a key has too many failures. */
export class Failures {
  /**
   * The number of failures per key. Counting begins again with a new map, because `run` must subtract from the same map
   * to which it added.
   */
  private counts = new Map<string, number>();
  private readonly most: number;
  private readonly what: string;
  private since = performance.now();

  constructor(mostInMinute: number, what: string) {
    this.most = mostInMinute;
    this.what = what;
  }

  requireFew(key: string): void {
    const age = performance.now() - this.since;
    if (age >= MINUTE_MS) {
      this.counts = new Map();
      this.since = performance.now();
    } else if ((this.counts.get(key) ?? 0) >= this.most) {
      throw new ExchangeError('RATE_LIMITED', `Too many ${this.what} were rejected.`, {
        retryAfterSeconds: Math.ceil((MINUTE_MS - age) / 1000),
      });
    }
  }

  count(key: string): void {
    if (this.counts.size >= MAX_KEYS) this.counts = new Map();
    addTo(this.counts, key, 1);
  }

  /**
   * Runs the work. Counts the work as a failure while it runs, so that a sender cannot exceed the limit with concurrent
   * requests. Keeps the count only if `isFailure` returns true for the error.
   */
  async run<T>(key: string, work: () => Promise<T>, isFailure: (error: unknown) => boolean): Promise<T> {
    this.requireFew(key);
    this.count(key);
    const { counts } = this;
    let failed = false;
    try {
      return await work();
    } catch (error) {
      failed = isFailure(error);
      throw error;
    } finally {
      if (!failed) addTo(counts, key, -1);
    }
  }
}

/** Limits how many request bodies are received at the same time, in total and per party. */
export class Slots {
  private readonly held = new Map<string, number>();
  private readonly most: number;
  private readonly mostOfParty: number;
  private all = 0;

  constructor({ most, mostOfParty }: { most: number; mostOfParty: number }) {
    this.most = most;
    this.mostOfParty = mostOfParty;
  }

  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    const held = this.held.get(party) ?? 0;
    if (held >= this.mostOfParty) throw busy(`${party} sends ${held} bodies already`);
    if (this.all >= this.most) throw busy(`${this.all} bodies are being received already`);
    addTo(this.held, party, 1);
    this.all++;
    try {
      return await work();
    } finally {
      this.all--;
      addTo(this.held, party, -1);
    }
  }
}

/** Runs at most one task per key at a time. Throws RATE_LIMITED if a task with the same key is running. */
export class Turns {
  private readonly taken = new Set<string>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.taken.has(key)) throw busy(`A body for ${key} is being received already`);
    this.taken.add(key);
    try {
      return await work();
    } finally {
      this.taken.delete(key);
    }
  }
}

function busy(what: string): ExchangeError {
  return new ExchangeError('RATE_LIMITED', `${what}: retry.`, { retryAfterSeconds: 1 });
}
