/**
 * Limits the number of open measurements per consumer. A replica counts a consumer's open measurements, and may then create
 * a certain number of new ones before it counts again. Most requests therefore need no count and no shared row lock.
 */
import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { literals, type Queryable, sql } from './db.ts';

/** How long a replica may use a count before it must count again. */
const COUNT_MS = 10_000;
/**
 * How long a replica may use a count that reached the limit. If this were zero, every request over the limit would count
 * again.
 */
const FULL_COUNT_MS = 1_000;
/**
 * The number of measurements that a replica may create after a count, as a fraction of the limit. With several replicas,
 * each replica after the first can exceed the limit by this fraction.
 */
const GRANTED_PART = 1 / 100;
const MAX_CONSUMERS = 10_000;

const COUNT = sql<{ n: number }>(
  'measurement_count_open',
  `SELECT count(*)::int AS n FROM (
     SELECT FROM measurements WHERE consumer = $1 AND state IN (${literals(PENDING_MEASUREMENT_STATES)}) LIMIT $2) open`,
);

interface Consumer {
  /** The number of measurements that this replica may still create before it must count again. */
  left: number;
  /** Whether the consumer had reached the limit at the last count. */
  isFull: boolean;
  countedAt: number;
  /** The number of measurements that this replica is creating now. A count may not include their rows yet. */
  running: number;
  counting: Promise<void> | undefined;
}

export class OpenMeasurements {
  readonly limit: number;
  private readonly db: Queryable;
  private readonly clock: () => number;
  private readonly consumers = new LRUCache<string, Consumer>({ max: MAX_CONSUMERS });

  /** `clock` returns milliseconds, and must be monotonic. */
  constructor(db: Queryable, limit: number, clock: () => number = () => performance.now()) {
    this.db = db;
    this.limit = limit;
    this.clock = clock;
  }

  /**
   * Reserves one open measurement for a consumer, or returns undefined if the limit is reached. The caller must dispose of
   * the reservation after the measurement is created or its creation fails.
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
