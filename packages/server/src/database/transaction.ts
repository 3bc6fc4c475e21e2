/** One attempt at a transaction. Statements of one turn of the event loop are sent together: five cost one round trip. */
import type pg from 'pg';
import { outcomeUnknown } from './errors.ts';
import { type Query, type Result, type Statement, sendTogether } from './roundTrip.ts';

/** Runs statements: the pool, or a transaction. */
export interface Queryable {
  query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]>;
  /** Only of a transaction: subscribers to this party are told once the transaction is committed. */
  wakes?(party: string): void;
}

export interface Transaction extends Queryable {
  /** Sent at once, awaited with the COMMIT: the last write of a transaction costs no round trip of its own. */
  last(statement: Statement<unknown>, values: unknown[]): void;
  /** Sends the COMMIT now, so that the rest of the work is done meanwhile; otherwise it is sent after the work. */
  commit(): void;
  /** Makes the transaction end with a ROLLBACK. */
  rollback(): void;
}

const BEGIN = { name: 'begin', text: 'BEGIN' };
const END = {
  COMMIT: { name: 'commit', text: 'COMMIT' },
  ROLLBACK: { name: 'rollback', text: 'ROLLBACK' },
};

export class OpenTransaction implements Transaction {
  rolledBack = false;
  readonly woken = new Set<string>();
  private readonly pool: pg.Pool;
  private readonly client: pg.PoolClient;
  /** To be sent at the end of this turn. */
  private queries: Query[] = [];
  private committed: Promise<void> | undefined;
  /** The error of the first statement that failed; those after it only report that the transaction is aborted. */
  private failure: unknown;

  constructor(pool: pg.Pool, client: pg.PoolClient) {
    this.pool = pool;
    this.client = client;
    this.send(BEGIN, []);
  }

  async query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    return (await this.send(statement, values)).rows as R[];
  }

  last(statement: Statement<unknown>, values: unknown[]): void {
    this.send(statement, values);
  }

  wakes(party: string): void {
    this.woken.add(party);
  }

  rollback(): void {
    this.rolledBack = true;
  }

  commit(): void {
    this.committed = this.end('COMMIT');
    // It is awaited when the work is done.
    this.committed.catch(() => {});
    this.flush();
  }

  done(): Promise<void> {
    return this.committed ?? this.end(this.rolledBack ? 'ROLLBACK' : 'COMMIT');
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    let warned = false;
    const onNotice = ({ code }: { code: string | undefined }) => {
      warned ||= code === '01000';
    };
    this.client.on('notice', onNotice);
    try {
      const { command } = await this.send(END[how], []);
      // The server answers the COMMIT of a failed transaction with ROLLBACK.
      if (command !== how) throw this.failure ?? new Error(`${how} ended as ${command}`);
    } finally {
      this.client.off('notice', onNotice);
    }
    // A COMMIT whose wait for the standby was cancelled is done here, with a warning; a failover may still lose it.
    if (warned && how === 'COMMIT') throw outcomeUnknown();
  }

  private send(statement: Statement<unknown>, values: unknown[]): Promise<Result> {
    if (this.queries.length === 0) process.nextTick(() => this.flush());
    const result = new Promise<Result>((resolve, reject) => {
      const fail = (error: Error) => {
        this.failure ??= error;
        reject(this.failure);
      };
      this.queries.push({ statement, values, resolve, reject: fail });
    });
    // It may fail before it is awaited, and must not count as an unhandled rejection then.
    result.catch(() => {});
    return result;
  }

  private flush(): void {
    const { queries } = this;
    if (queries.length === 0) return;
    this.queries = [];
    const isAlone = this.pool.totalCount - this.pool.idleCount === 1;
    sendTogether(this.client, queries, isAlone);
  }
}
