/** One connection with one read-only transaction, so that all statements of a session see the same rows. */
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Connect } from './connection.ts';
import { translate } from './errors.ts';

/** The values of a row, as text. */
export type Row = (string | null)[];
export type Values = readonly (string | readonly (string | null)[])[];

export interface Session {
  /** Stops the session when the signal aborts. */
  follow(signal: AbortSignal | undefined): void;
  rows(sql: string, values?: Values): Promise<Row[]>;
  /** Calls `take` with each row when it arrives. */
  each(statement: Statement, take: (row: Row) => void): Promise<void>;
  /** Streams the rows in batches. The server keeps the later rows until they are requested. */
  batches<B>(statement: Statement, batching: Batching<B>): AsyncGenerator<B>;
}

export interface Statement {
  sql: string;
  values: Values;
}

/**
 * Collects the rows of a batch. Each row is added when it arrives, and can be garbage-collected afterward. If a batch
 * kept the row objects, they would survive many garbage collections and make the heap grow.
 */
export interface Batching<B> {
  /** Returns an empty batch for at most `capacity` rows. */
  begin(capacity: number): B;
  add(batch: B, row: Row): void;
}

export interface SessionOptions {
  connect: Connect;
  /** The time after which the server stops a statement, in case the agent cannot stop it. */
  timeoutMs: number;
  /** Whether the server can detect a lost connection while it runs a statement. */
  canCheckClient: boolean;
}

const CONNECT_MS = 10_000;
const LOCK_MS = 10_000;
/**
 * The maximum time for canceling a statement or closing a connection. Afterward, the socket is destroyed. This is also
 * the interval at which the server checks for a lost connection.
 */
const FAREWELL_MS = 500;
/** The number of rows in a batch. More rows need more memory, and fewer rows need more round trips. */
const BATCH = 1 << 13;

/**
 * Returns the settings of a session. Without them, settings of the server, the database, or the role could change
 * results.
 */
function settingsOf({ timeoutMs, canCheckClient }: SessionOptions): Record<string, string> {
  return {
    search_path: 'pg_catalog',
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    extra_float_digits: '1',
    // If a policy hides rows, the statement must fail instead of returning a smaller count.
    row_security: 'off',
    cursor_tuple_fraction: '1',
    // Turn off just-in-time compilation, because compiling a long filter takes longer than running it.
    jit: 'off',
    statement_timeout: String(timeoutMs),
    idle_in_transaction_session_timeout: String(timeoutMs),
    lock_timeout: String(LOCK_MS),
    ...(canCheckClient && { client_connection_check_interval: String(FAREWELL_MS) }),
  };
}

/**
 * Runs `work` in a transaction with one snapshot. When one of the signals aborts, cancels the running statement
 * and throws the signal's reason.
 */
export async function inSession<T>(
  options: SessionOptions,
  signals: readonly (AbortSignal | undefined)[],
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const link = await linkTo(options.connect);
  const followed = new Set<AbortSignal>();
  let backend: string | undefined;
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= backend === undefined ? link.cut() : cancel(options.connect, backend).then(link.cut);
  };
  const follow = (signal: AbortSignal | undefined) => {
    signal?.throwIfAborted();
    if (signal === undefined || followed.has(signal)) return;
    followed.add(signal);
    signal.addEventListener('abort', stop);
  };
  const throwIfAborted = () => {
    for (const signal of followed) signal.throwIfAborted();
  };
  try {
    for (const signal of signals) follow(signal);
    backend = await begin(link.client, options);
    throwIfAborted();
    const result = await work({
      follow,
      rows: (sql, values = []) => rowsOf(link.client, sql, values),
      each: (statement, take) => eachRow(link.client, statement, take),
      batches: (statement, batching) => batchesOf(link.client, statement, batching),
    });
    throwIfAborted();
    return result;
  } catch (error) {
    throwIfAborted();
    throw error;
  } finally {
    for (const signal of followed) signal.removeEventListener('abort', stop);
    await (stopping ?? link.end());
  }
}

/** Connects, begins the transaction, and returns the ID of the server process for this connection. */
async function begin(client: pg.Client, options: SessionOptions): Promise<string> {
  await client.connect().catch(fail);
  const settings = Object.entries(settingsOf(options)).map(
    ([name, value]) => `SET LOCAL ${name} = '${value}'`,
  );
  await client.query(['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...settings].join('; ')).catch(fail);
  const [row] = await rowsOf(client, 'SELECT pg_backend_pid()', []);
  return row![0]!;
}

function fail(error: unknown): never {
  throw translate(error);
}

/** Creates a client whose socket can be destroyed at any time. */
async function linkTo(connect: Connect) {
  const socket = new Socket();
  const client = new pg.Client({
    ...(await connect()),
    stream: () => socket,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'mex provider',
  });
  // Ignore the error here, because the statement in progress reports it.
  client.on('error', () => {});
  const cut = async () => void socket.destroy();
  const end = async () => {
    await Promise.race([client.end().catch(() => {}), sleep(FAREWELL_MS, undefined, { ref: false })]);
    await cut();
  };
  return { client, cut, end };
}

/**
 * Cancels the statement of a server process. Uses a second connection, because the first one waits for the statement.
 */
async function cancel(connect: Connect, backend: string): Promise<void> {
  const canceled = async () => {
    const { client, end } = await linkTo(connect);
    try {
      await client.connect();
      await client.query('SELECT pg_catalog.pg_cancel_backend($1)', [backend]);
    } finally {
      await end();
    }
  };
  await Promise.race([canceled().catch(() => {}), sleep(FAREWELL_MS, undefined, { ref: false })]);
}

/** Keeps every value as text, because the driver's conversions lose digits and depend on the time zone. */
const types = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

async function rowsOf(client: pg.Client, sql: string, values: Values): Promise<Row[]> {
  const rows: Row[] = [];
  await eachRow(client, { sql, values }, (row) => rows.push(row));
  return rows;
}

function eachRow(client: pg.Client, { sql, values }: Statement, take: (row: Row) => void): Promise<void> {
  const config: pg.QueryArrayConfig = { text: sql, values: [...values], rowMode: 'array', types };
  return new Promise((resolve, reject) => {
    const query = new pg.Query<Row>(config);
    query.on('row', (row) => {
      try {
        take(row);
      } catch (error) {
        reject(error);
      }
    });
    query.on('error', (error) => reject(translate(error)));
    query.on('end', () => resolve());
    client.query(query);
  });
}

let cursors = 0;

async function* batchesOf<B>(
  client: pg.Client,
  { sql, values }: Statement,
  { begin, add }: Batching<B>,
): AsyncGenerator<B> {
  const cursor = `mex_${++cursors}`;
  await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, [...values]).catch(fail);
  const read = async () => {
    const batch = begin(BATCH);
    let length = 0;
    await eachRow(client, { sql: `FETCH ${BATCH} FROM ${cursor}`, values: [] }, (row) => {
      add(batch, row);
      length++;
    });
    return { batch, length };
  };
  const fetch = () => {
    const batch = read();
    // Prevent an unhandled rejection: if the caller stops reading, nobody awaits the next batch.
    batch.catch(() => {});
    return batch;
  };
  let next = fetch();
  for (;;) {
    const { batch, length } = await next;
    const isLast = length < BATCH;
    if (!isLast) next = fetch();
    if (length > 0) yield batch;
    if (isLast) break;
  }
  await client.query(`CLOSE ${cursor}`).catch(fail);
}
