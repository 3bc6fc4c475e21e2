/** A PostgreSQL client. It runs prepared statements, and transactions with limited retries and a deadline. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import pg from 'pg';
import { outsideSpans, telemetry } from '../telemetry.ts';
import { Client } from './client.ts';
import { isRetryable, outcomeUnknown, translate } from './errors.ts';
import { Lookups } from './lookups.ts';
import { query, type Statement } from './roundTrip.ts';
import { OpenTransaction, type Queryable, type Transaction } from './transaction.ts';

export interface DatabaseObserver {
  transaction(name: string, outcome: 'committed' | 'rolledBack' | 'failed', seconds: number): void;
  retry(name: string): void;
}

export interface DatabaseOptions {
  connection: pg.ClientConfig;
  applicationName: string;
  maxConnections?: number;
  observer?: DatabaseObserver;
  onIdleError?: (error: Error) => void;
  onChanges?: (parties: ReadonlySet<string>) => void;
}

export interface SessionOptions {
  /** PostgreSQL session settings as `name=value`. */
  settings: readonly string[];
  types: pg.CustomTypesConfig;
  maxConnections: number;
  acquireMs: number;
  idleMs: number;
  /**
   * The time limit for each attempt at a transaction, including the COMMIT, and for each round trip. PostgreSQL's
   * statement_timeout does not limit a COMMIT that waits for a standby.
   */
  deadlineMs: number;
}

const PING = { name: 'ping', text: 'SELECT 1' };
const MAX_ATTEMPTS = 5;
const REACHABLE_MS = 1_000;
const CLOSE_MS = 1_000;

export class Database implements Queryable {
  readonly pool: pg.Pool;
  private readonly onChanges: DatabaseOptions['onChanges'];
  private readonly lookups: Lookups;
  private readonly observer: DatabaseObserver | undefined;
  private readonly deadlineMs: number;
  private reachable: Promise<boolean> | undefined;
  private readonly connections = new Set<pg.PoolClient>();

  constructor(options: DatabaseOptions, session: SessionOptions) {
    this.observer = options.observer;
    this.onChanges = options.onChanges;
    this.deadlineMs = session.deadlineMs;
    this.pool = new pg.Pool({
      ...options.connection,
      Client,
      types: session.types,
      pipeline: true,
      application_name: options.applicationName,
      options: session.settings.map((setting) => `-c ${setting}`).join(' '),
      max: options.maxConnections ?? session.maxConnections,
      connectionTimeoutMillis: session.acquireMs,
      idleTimeoutMillis: session.idleMs,
      query_timeout: session.deadlineMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      allowExitOnIdle: false,
    } as pg.PoolConfig);
    this.lookups = new Lookups(this.pool);
    // Handle connection errors: a restart of PostgreSQL breaks every connection, and an unhandled error would end the
    // process. The pool replaces broken connections.
    this.pool.on('error', (error) => options.onIdleError?.(error));
    this.pool.on('connect', (client) => {
      client.on('error', () => {});
      this.connections.add(client);
    });
    this.pool.on('remove', (client) => this.connections.delete(client));
  }

  async query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    try {
      // Send each lookup separately while telemetry is on. Lookups sent together may come from several requests, but a
      // span belongs to one request.
      const together = statement.isLookup && telemetry === undefined;
      return await (together ? this.lookups.query(statement, values) : query(this.pool, statement, values));
    } catch (error) {
      throw translate(error);
    }
  }

  /**
   * Runs a READ COMMITTED transaction. Retries only if the attempt certainly changed nothing. `work` must lock the rows
   * that its decisions depend on.
   */
  tx<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const span = telemetry?.openInside({ name: `transaction ${name}` });
    if (span === undefined) return this.retried(name, work);
    const done = span.run(() => this.retried(name, work));
    done.then(
      () => span.end(),
      (failure) => span.end({ failure }),
    );
    return done;
  }

  private async retried<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const started = performance.now();
      const done = (outcome: 'committed' | 'rolledBack' | 'failed') =>
        this.observer?.transaction(name, outcome, (performance.now() - started) / 1000);
      try {
        const { result, committed, woken } = await this.attempt(work);
        done(committed ? 'committed' : 'rolledBack');
        if (committed && woken.size > 0) outsideSpans(() => this.onChanges?.(woken));
        return result;
      } catch (error) {
        if (!isRetryable(error) || attempt >= MAX_ATTEMPTS) {
          done(error instanceof ExchangeError ? 'rolledBack' : 'failed');
          throw translate(error);
        }
        this.observer?.retry(name);
        await sleep(randomInt(10 * 2 ** attempt));
      }
    }
  }

  private async attempt<T>(
    work: (tx: Transaction) => Promise<T>,
  ): Promise<{ result: T; committed: boolean; woken: ReadonlySet<string> }> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    const deadline = setTimeout(() => {
      broken = outcomeUnknown();
      // Close the connection instead of canceling the statement. A canceled COMMIT may have taken effect on this server
      // but not on the standby.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }, this.deadlineMs);
    const tx = new OpenTransaction(this.pool, client);
    try {
      const result = await work(tx);
      await tx.done();
      return { result, committed: !tx.rolledBack, woken: tx.woken };
    } catch (error) {
      // Send ROLLBACK even after a COMMIT was sent, because PostgreSQL skips the COMMIT if an earlier statement fails.
      await tx.end('ROLLBACK').catch((failure: Error) => {
        broken ??= failure;
      });
      throw broken instanceof ExchangeError ? broken : error;
    } finally {
      clearTimeout(deadline);
      client.release(broken ?? false);
    }
  }

  /** Returns whether the database responds. Caches the result for a second, because health checks may be frequent. */
  isReachable(): Promise<boolean> {
    this.reachable ??= this.ping();
    return this.reachable;
  }

  private async ping(): Promise<boolean> {
    try {
      await this.query(PING, []);
      return true;
    } catch {
      return false;
    } finally {
      setTimeout(() => {
        this.reachable = undefined;
      }, REACHABLE_MS).unref();
    }
  }

  /**
   * Resolves when PostgreSQL has closed all connections. If PostgreSQL stopped earlier, it would end the remaining
   * connections with an error. If PostgreSQL does not respond, resolves after a second.
   */
  async close(): Promise<void> {
    const closed = [...this.connections].map(
      (client) => new Promise((resolve) => client.once('end', resolve)),
    );
    await this.pool.end();
    await Promise.race([Promise.all(closed), sleep(CLOSE_MS, undefined, { ref: false })]);
  }
}
