/**
 * Limits the number of open measurements per consumer. Each replica counts them from time to time and gets a quota from
 * each count, so that a create needs neither an extra round trip nor a row lock that all creates share.
 */
import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { literals, type Queryable, sql } from './db.ts';

/** How long a replica may use a count. */
const COUNT_MS = 10_000;
/**
 * How long a replica may use a count that found the limit reached. Otherwise, each request over the limit would cause a
 * count.
 */
const FULL_COUNT_MS = 1_000;
/**
 * The fraction of the limit that a count grants to a replica. Each additional replica may exceed the limit by that much.
 */
const GRANTED_PART = 1 / 100;
const MAX_CONSUMERS = 10_000;

const COUNT = sql<{ n: number }>(
  'measurement_count_open',
  `SELECT count(*)::int AS n FROM (
     SELECT FROM measurements WHERE consumer = $1 AND state IN (${literals(PENDING_MEASUREMENT_STATES)}) LIMIT $2) open`,
);

interface Consumer {
  /** How many more measurements this replica may open from the quota it got at the last count. */
  left: number;
  /** Whether the last count found the limit reached. */
  isFull: boolean;
  countedAt: number;
  /** The number of creates in progress. A count may not see their rows yet. */
  running: number;
  counting: Promise<void> | undefined;
}

export class OpenMeasurements {
  readonly limit: number;
  private readonly db: Queryable;
  private readonly clock: () => number;
  private readonly consumers = new LRUCache<string, Consumer>({ max: MAX_CONSUMERS });

  /** `clock` must be monotonic, in milliseconds. */
  constructor(db: Queryable, limit: number, clock: () => number = () => performance.now()) {
    this.db = db;
    this.limit = limit;
    this.clock = clock;
  }

  /**
   * Reserves room for one create. Dispose of the reservation when the create ends. Returns undefined if the limit is
   * reached.
   */
  async take(name: string): Promise<Disposable | undefined> {
    const consumer = this.consumerOf(name);
    while (this.needsCount(consumer)) {
      consumer.counting ??= this.count(name, consumer);
      await consumer.counting;
    }
    if (consumer.isFull) return undefined;
    consumer.left -= 1;
    consumer.running += 1;
    return {
      [Symbol.dispose]: () => {
        consumer.running -= 1;
      },
    };
  }

  private consumerOf(name: string): Consumer {
    let consumer = this.consumers.get(name);
    if (consumer === undefined) {
      consumer = {
        ...{ left: 0, isFull: false, countedAt: Number.NEGATIVE_INFINITY },
        ...{ running: 0, counting: undefined },
      };
      this.consumers.set(name, consumer);
    }
    return consumer;
  }

  private needsCount({ left, isFull, countedAt }: Consumer): boolean {
    const age = this.clock() - countedAt;
    return isFull ? age >= FULL_COUNT_MS : left < 1 || age >= COUNT_MS;
  }

  private async count(name: string, consumer: Consumer): Promise<void> {
    try {
      const { running } = consumer;
      const [row] = await this.db.query(COUNT, [name, this.limit]);
      const free = this.limit - row!.n - running;
      consumer.isFull = free < 1;
      consumer.left = Math.min(free, Math.ceil(this.limit * GRANTED_PART));
      consumer.countedAt = this.clock();
    } finally {
      consumer.counting = undefined;
    }
  }
}
