/** How much of this duchy one sender can have. */
import { ExchangeError } from '@measurement-exchange/contract';

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** How often each address was rejected in this minute: a stranger must not use up what the exchange allows this duchy. */
export class Rejections {
  private readonly counts = new Map<string, number>();
  private readonly most: number;
  private since = performance.now();

  constructor(mostInMinute: number) {
    this.most = mostInMinute;
  }

  /** Throws RATE_LIMITED where the address has been rejected too often. */
  requireFew(address: string): void {
    const age = performance.now() - this.since;
    if (age >= MINUTE_MS) {
      this.counts.clear();
      this.since = performance.now();
    } else if ((this.counts.get(address) ?? 0) >= this.most) {
      throw new ExchangeError('RATE_LIMITED', 'Too many requests of this address were rejected.', {
        retryAfterSeconds: Math.ceil((MINUTE_MS - age) / 1000),
      });
    }
  }

  count(address: string): void {
    if (this.counts.size >= MAX_ADDRESSES) this.counts.clear();
    this.counts.set(address, (this.counts.get(address) ?? 0) + 1);
  }
}

/** How many requests may hold a place at once, in all and for one party. */
export class Slots {
  private readonly held = new Map<string, number>();
  private readonly most: number;
  private readonly mostOfParty: number;
  private all = 0;

  constructor({ most, mostOfParty }: { most: number; mostOfParty: number }) {
    this.most = most;
    this.mostOfParty = mostOfParty;
  }

  /** Runs the work in a place of the party, or throws RATE_LIMITED at once. */
  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    const held = this.held.get(party) ?? 0;
    if (held >= this.mostOfParty) throw busy(`${party} sends ${held} bodies already`);
    if (this.all >= this.most) throw busy(`${this.all} bodies are being received already`);
    this.held.set(party, held + 1);
    this.all++;
    try {
      return await work();
    } finally {
      this.all--;
      const left = this.held.get(party)! - 1;
      if (left === 0) this.held.delete(party);
      else this.held.set(party, left);
    }
  }
}

/** One at a time for each key. */
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
