/**
 * Sends lookups: statements that find rows by key. A lookup is sent immediately if no lookup is running. Otherwise,
 * lookups from the same turn of the event loop are sent over one connection in one write, because waking a PostgreSQL
 * process costs more than running a lookup.
 */
import type { Writable } from 'node:stream';
import type pg from 'pg';
import { query, type Statement } from './roundTrip.ts';

/**
 * The maximum number of lookups that are sent together. The maximum is small, because each lookup waits for the lookups
 * before it.
 */
const MAX_TOGETHER = 8;

interface Lookup {
  /** Sends the lookup. The promise never rejects, because an error goes to the caller of the lookup. */
  send(client: pg.PoolClient): Promise<void>;
  fail(error: Error): void;
}

export class Lookups {
  private readonly pool: pg.Pool;
  private waiting: Lookup[] = [];
  private running = 0;

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    return new Promise((resolve, reject) => {
      const send = (client: pg.PoolClient) => query(client, statement, values).then(resolve, reject);
      const lookup = { send, fail: reject };
      if (this.running === 0) return this.send([lookup]);
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      this.waiting.push(lookup);
    });
  }

  private flush(): void {
    const { waiting } = this;
    this.waiting = [];
    for (let i = 0; i < waiting.length; i += MAX_TOGETHER) this.send(waiting.slice(i, i + MAX_TOGETHER));
  }

  private send(lookups: Lookup[]): void {
    this.running++;
    this.pool.connect((error, client, release) => {
      if (client === undefined) {
        this.running--;
        for (const lookup of lookups) lookup.fail(error!);
        return;
      }
      const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
      stream.cork();
      const sent = lookups.map((lookup) => lookup.send(client));
      stream.uncork();
      void Promise.all(sent).then(() => {
        this.running--;
        release();
      });
    });
  }
}
