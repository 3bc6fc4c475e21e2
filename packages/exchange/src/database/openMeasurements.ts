/**
 * Limits the open measurements of a consumer. After each count, a replica may create a certain number of measurements
 * without counting again. Most requests therefore need no count and no lock on a shared row.
 */
import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { LRUCache } from 'lru-cache';
import { literals, type Queryable, sql } from './db.ts';

/** A replica counts a consumer's open measurements again after this time. */
const COUNT_MS = 10_000;
/**
 * If the consumer is at the limit, a replica counts again after this time. Without this delay, every request over the
 * limit would cause a count.
 */
const FULL_COUNT_MS = 1_000;
/**
 * The number of measurements that a replica may create after a count, as a fraction of the limit. Several replicas
 * together can exceed the limit by this fraction per additional replica.
 */
const GRANTED_PART = 1 / 100;
const MAX_CONSUMERS = 10_000;

const COUNT = sql<{ n: number }>(
  'measurement_count_open',
  `SELECT count(*)::int AS n FROM (
     SELECT FROM measurements WHERE consumer = $1 AND state IN (${literals(PENDING_MEASUREMENT_STATES)}) LIMIT $2) open`,
);

interface Consumer {
  /** The number of measurements that this replica may create before it must count again. */
  left: number;
  isFull: boolean;
  countedAt: number;
  /** The number of measurements that this replica is creating now. A count might miss their uncommitted rows. */
  running: number;
  counting: Promise<void> | undefined;
}

interface Places extends Disposable {
  /** The number of reserved places. Each place is for one open measurement. */
  count: number;
}

export class OpenMeasurements {
  readonly limit: number;
  private readonly db: Queryable;
  private readonly clock: () => number;
  private readonly consumers = new LRUCache<string, Consumer>({ max: MAX_CONSUMERS });

  /** `clock` returns milliseconds and must be monotonic. */
  constructor(db: Queryable, limit: number, clock: () => number = () => performance.now()) {
    this.db = db;
    this.limit = limit;
    this.clock = clock;
  }

  /**
   * Reserves places for `wanted` open measurements, or for as many as the limit still allows. Disposing of the result
   * ends all of these reservations.
   */
  async takeUpTo(name: string, wanted: number): Promise<Places> {
    using taken = new DisposableStack();
    let count = 0;
    for (; count < wanted; count++) {
      const place = await this.take(name);
      if (place === undefined) break;
      taken.use(place);
    }
    const places = taken.move();
    return { count, [Symbol.dispose]: () => places.dispose() };
  }

  /**
   * Reserves a place for one open measurement, or returns undefined at the limit. The caller must dispose of the
   * reservation when the creation succeeds or fails.
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
