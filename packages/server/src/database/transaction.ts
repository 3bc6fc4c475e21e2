/** One attempt at a transaction. Statements from the same turn of the event loop share one round trip. */
import type pg from 'pg';
import { outcomeUnknown } from './errors.ts';
import { type Query, type Result, type Statement, sendTogether } from './roundTrip.ts';

export interface Queryable {
  query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]>;
  /** After the commit, tells the party's subscribers that something changed. Only transactions have this method. */
  wakes?(party: string): void;
}

export interface Transaction extends Queryable {
  /**
   * Sends the last statement without waiting for its result. The statement then shares a round trip with the COMMIT.
   */
  last(statement: Statement<unknown>, values: unknown[]): void;
  /** Sends the COMMIT before the `work` of `Database.tx` ends. By default, the COMMIT is sent when `work` ends. */
  commit(): void;
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
  private queries: Query[] = [];
  private committed: Promise<void> | undefined;
  /** The error of the first failed statement. Errors of later statements only say that the transaction is aborted. */
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
    // Prevent an unhandled rejection. `done` returns this promise later.
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
      // PostgreSQL responds to COMMIT with ROLLBACK if the transaction has failed.
      if (command !== how) throw this.failure ?? new Error(`${how} ended as ${command}`);
    } finally {
      this.client.off('notice', onNotice);
    }
    // The warning means that PostgreSQL stopped waiting for a standby. The COMMIT succeeded on this server, but a
    // failover may lose the transaction.
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
    // Prevent an unhandled rejection if the statement fails before it is awaited.
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
