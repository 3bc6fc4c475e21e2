/** The database of a duchy: named prepared statements, short transactions, and its errors as those of the API. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import type { Secrets } from '@measurement-exchange/server';
import { openStatements, telemetry } from '@measurement-exchange/server/telemetry';
import pg from 'pg';

/** Prepared once per connection under its name. */
export interface Statement {
  name: string;
  text: string;
}

const names = new Set<string>();

export function sql(name: string, text: string): Statement {
  // A connection would run the first text prepared under a name for the second one as well.
  if (names.has(name)) throw new Error(`Two statements are named ${name}.`);
  names.add(name);
  return { name, text };
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

/** What a statement can be run on: the pool, or a transaction. */
export interface Queryable {
  readonly secrets: Secrets;
  query(statement: Statement, values: unknown[]): Promise<Row[]>;
}

export interface DatabaseOptions {
  connection: pg.ClientConfig;
  /** Seals what must not be readable in the database. */
  secrets: Secrets;
  applicationName: string;
  maxConnections?: number;
  onIdleError?: (error: Error) => void;
}

const MAX_ATTEMPTS = 5;
const ACQUIRE_MS = 5_000;
const QUERY_MS = 15_000;
const REACHABLE_MS = 1_000;
const SESSION = [
  'statement_timeout=10000',
  'lock_timeout=3000',
  'idle_in_transaction_session_timeout=15000',
  'TimeZone=UTC',
  'jit=off',
];

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.NUMERIC, BigInt);
// Its integers of 64 bits must stay exact.
types.setTypeParser(pg.types.builtins.JSONB, (text) => text);

const PING = sql('ping', 'SELECT 1');

export class Database implements Queryable {
  readonly pool: pg.Pool;
  readonly secrets: Secrets;
  private reachable: Promise<boolean> | undefined;

  constructor(options: DatabaseOptions) {
    this.secrets = options.secrets;
    this.pool = new pg.Pool({
      ...options.connection,
      types,
      application_name: options.applicationName,
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      max: options.maxConnections ?? 10,
      connectionTimeoutMillis: ACQUIRE_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    // A server that restarts breaks connections, idle or not; the pool replaces them.
    this.pool.on('error', (error) => options.onIdleError?.(error));
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  query(statement: Statement, values: unknown[]): Promise<Row[]> {
    return run(this.pool, statement, values);
  }

  /** READ COMMITTED; the callback locks what it decides on, and runs again after a deadlock. */
  async tx<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (!isRetryable(error) || attempt >= MAX_ATTEMPTS) throw error;
        await sleep(randomInt(10 * 2 ** attempt));
      }
    }
  }

  private async attempt<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    const client = await translated(this.pool.connect());
    let broken: Error | undefined;
    try {
      await translated(client.query('BEGIN'));
      const result = await work({
        secrets: this.secrets,
        query: (statement, values) => run(client, statement, values),
      });
      const { command } = await translated(client.query('COMMIT'));
      // The server answers the COMMIT of a failed transaction with ROLLBACK.
      if (command !== 'COMMIT') throw new Error(`COMMIT ended as ${command}`);
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Whether a statement comes back at all. Strangers may ask, and often: an answer is good for a second. */
  isReachable(): Promise<boolean> {
    this.reachable ??= this.query(PING, [])
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        setTimeout(() => {
          this.reachable = undefined;
        }, REACHABLE_MS).unref();
      });
    return this.reachable;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

async function run(client: pg.Pool | pg.PoolClient, statement: Statement, values: unknown[]): Promise<Row[]> {
  const span = telemetry && openStatements([statement.name]);
  try {
    const { rows } = await translated(client.query({ ...statement, values }));
    span?.end();
    return rows;
  } catch (failure) {
    span?.end({ failure });
    throw failure;
  }
}

/** Serialization failure and deadlock: the server guarantees that nothing happened. */
function isRetryable(error: unknown): boolean {
  const cause = error instanceof ExchangeError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError && (cause.code === '40001' || cause.code === '40P01');
}

/** Trouble that passes as UNAVAILABLE; what is left over is a defect of ours. */
async function translated<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    if (!passes(cause as Error)) throw cause;
    throw new ExchangeError('UNAVAILABLE', 'The database is out of reach or busy: retry.', {
      cause,
      retryAfterSeconds: 1,
    });
  }
}

function passes(error: Error & { code?: string }): boolean {
  const { code = '', message } = error;
  // Lock wait, connection trouble, shutdown, out of resources, read-only standby, timeout, still contended.
  if (error instanceof pg.DatabaseError) return /^(55P03|08|57|53|25006|40)/.test(code);
  const lost = /ECONN|ENOENT|EPIPE|ETIMEDOUT|terminated|timeout|not queryable|Client was closed|pool/i;
  return lost.test(`${code} ${message}`);
}
