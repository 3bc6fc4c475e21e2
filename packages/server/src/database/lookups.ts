/**
 * Sends statements that find rows by key. Those of one turn of the event loop share a connection and a write, since waking a
 * process of the server costs more than such a statement does. Each has a result, and an error, of its own.
 */
import type { Writable } from 'node:stream';
import type pg from 'pg';
import { query, type Statement } from './roundTrip.ts';

/** A statement waits for those before it on its connection, so they are few. */
const MAX_TOGETHER = 8;

interface Lookup {
  /** Never rejects: the caller has the error. */
  send(client: pg.PoolClient): Promise<void>;
  fail(error: Error): void;
}

export class Lookups {
  private readonly pool: pg.Pool;
  private waiting: Lookup[] = [];

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => this.flush());
      const send = (client: pg.PoolClient) => query(client, statement, values).then(resolve, reject);
      this.waiting.push({ send, fail: reject });
    });
  }

  private flush(): void {
    const { waiting } = this;
    this.waiting = [];
    for (let i = 0; i < waiting.length; i += MAX_TOGETHER) this.send(waiting.slice(i, i + MAX_TOGETHER));
  }

  private send(lookups: Lookup[]): void {
    this.pool.connect((error, client, release) => {
      if (client === undefined) {
        for (const lookup of lookups) lookup.fail(error!);
        return;
      }
      const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
      stream.cork();
      const sent = lookups.map((lookup) => lookup.send(client));
      stream.uncork();
      void Promise.all(sent).then(() => release());
    });
  }
}
