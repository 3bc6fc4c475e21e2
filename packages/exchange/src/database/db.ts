/** The database: named prepared statements, and named transactions with bounded retry and a deadline. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError, type Timestamp } from '@measurement-exchange/contract';
import { outsideSpans, telemetry } from '@measurement-exchange/server/telemetry';
import pg from 'pg';
import {
  type Query,
  query,
  type Reader,
  type Result,
  type Row,
  type Statement,
  sendTogether,
} from './roundTrip.ts';

export type { Row, Statement } from './roundTrip.ts';

/** Every statement of the exchange, for the tests that look at the plan of each. */
export const statements = new Map<string, Statement<unknown>>();

export function sql<R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> {
  // A connection would run the first text prepared under a name for the second one as well.
  if (statements.has(name)) throw new Error(`Two statements are named ${name}.`);
  const statement = { name, text, reader };
  statements.set(name, statement);
  return statement;
}

/** Constants as a list of SQL literals: partial indexes are found by constants, not by parameters. */
export function literals(words: readonly string[]): string {
  return words.map((word) => pg.escapeLiteral(word)).join(', ');
}

/** What a statement can be run on: the pool, or a transaction. */
export interface Queryable {
  query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]>;
  /** Of a transaction: who follows this party hears of it once the transaction is committed. */
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

/** How a transaction ended, for the metrics. */
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
}

const PING = sql('ping', 'SELECT 1');
const MAX_ATTEMPTS = 5;
const ACQUIRE_MS = 2_000;
const REACHABLE_MS = 1_000;
/** A connection costs more than a request does: ten milliseconds and more, and what it has prepared is gone. */
const IDLE_MS = 600_000;
/** Over everything a transaction does, COMMIT included: statement_timeout does not bound a waiting COMMIT. */
const DEADLINE_MS = 8_000;
const SESSION = [
  'statement_timeout=5000',
  'lock_timeout=2000',
  'idle_in_transaction_session_timeout=10000',
  'TimeZone=UTC',
  'DateStyle=ISO',
  // One-row lookups by key: planning a list statement afresh costs more than it could gain.
  'plan_cache_mode=force_generic_plan',
  'jit=off',
  // Every row is found by a key. The planner cannot know LIMIT $n, takes it for a tenth of the table, and would
  // read all of a table to join a page to it.
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
];

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, readTimestamp);

/** `2026-11-15 02:04:57.12+00` to the canonical form; sessions run in UTC. */
function readTimestamp(text: string): Timestamp {
  // With all six digits, as nearly all are: a page of fifty holds two hundred of them.
  if (text.length === 29 && text[10] === ' ') return `${text.slice(0, 10)}T${text.slice(11, 26)}Z`;
  const [seconds, fraction = ''] = text.slice(0, text.lastIndexOf('+')).split('.');
  return `${seconds!.replace(' ', 'T')}.${fraction.padEnd(6, '0')}Z`;
}

export class Database implements Queryable {
  readonly pool: pg.Pool;
  /** Called after a commit with the parties that see a change of it. */
  onChanges: (parties: ReadonlySet<string>) => void = () => {};
  private readonly observer: DatabaseObserver | undefined;
  private reachable: Promise<boolean> | undefined;

  constructor(options: DatabaseOptions) {
    this.observer = options.observer;
    this.pool = new pg.Pool({
      ...options.connection,
      types,
      pipeline: true,
      application_name: options.applicationName,
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      max: options.maxConnections ?? 16,
      connectionTimeoutMillis: ACQUIRE_MS,
      idleTimeoutMillis: IDLE_MS,
      query_timeout: DEADLINE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      allowExitOnIdle: false,
    } as pg.PoolConfig);
    // A server that restarts breaks connections, idle or not; the pool replaces them.
    this.pool.on('error', (error) => options.onIdleError?.(error));
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  async query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    try {
      return await query(this.pool, statement, values);
    } catch (error) {
      throw translate(error);
    }
  }

  /** READ COMMITTED; the callback locks what it decides on. Only definite failures are retried. */
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
        if (committed && woken.size > 0) outsideSpans(() => this.onChanges(woken));
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
      // Dropped, never cancelled: a COMMIT that waits for a standby must not be half undone.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }, DEADLINE_MS);
    const tx = new OpenTransaction(this.pool, client);
    try {
      const result = await work(tx);
      await tx.done();
      return { result, committed: !tx.rolledBack, woken: tx.woken };
    } catch (error) {
      // Also after a COMMIT was sent: when a statement before it fails, the server skips it.
      await tx.end('ROLLBACK').catch((failure: Error) => {
        broken ??= failure;
      });
      throw broken instanceof ExchangeError ? broken : error;
    } finally {
      clearTimeout(deadline);
      client.release(broken ?? false);
    }
  }

  /** Whether a statement comes back at all. Strangers may ask, and often: an answer is good for a second. */
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

  async close(): Promise<void> {
    await this.pool.end();
  }
}

const BEGIN = { name: 'begin', text: 'BEGIN' };
const END = {
  COMMIT: { name: 'commit', text: 'COMMIT' },
  ROLLBACK: { name: 'rollback', text: 'ROLLBACK' },
};

/** Statements of one turn of the event loop are sent together: five of them cost one round trip. */
class OpenTransaction implements Transaction {
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
    // Awaited when the work is done.
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
    // It may fail before anyone awaits it; that is not an unhandled rejection.
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

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** The violated constraint of a unique violation. */
export function uniqueViolation(error: unknown): string | undefined {
  const cause = error instanceof ExchangeError ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === '23505' ? cause.constraint : undefined;
}

/** Serialization failure and deadlock: the server guarantees that nothing happened. */
function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/** Driver errors as errors of the API; what is left over is a defect of ours. */
function translate(error: unknown): unknown {
  if (error instanceof ExchangeError) return error;
  const state = sqlState(error);
  if (state === undefined) {
    const text = error instanceof Error ? `${(error as { code?: string }).code ?? ''} ${error.message}` : '';
    if (/timeout exceeded when trying to connect/.test(text)) return unavailable(error);
    if (/Query read timeout/.test(text)) {
      return new ExchangeError('DEADLINE_EXCEEDED', 'The database took too long.', { cause: error });
    }
    if (/ECONN|ENOENT|EPIPE|ETIMEDOUT|terminated|not queryable|Client was closed|pool/i.test(text)) {
      return unavailable(error);
    }
    return error;
  }
  if (state === '57014') {
    return new ExchangeError('DEADLINE_EXCEEDED', 'The database took too long.', { cause: error });
  }
  // Lock wait, connection trouble, shutdown, out of resources, read-only standby, still contended after retries.
  return /^(55P03|08|57P|53|25006|40)/.test(state) ? unavailable(error) : error;
}

function outcomeUnknown(): ExchangeError {
  return new ExchangeError('DEADLINE_EXCEEDED', 'The database took too long; the outcome is not known.');
}

function unavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The database is out of reach or busy: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
