/**
 * The embedded query engine (DuckDB). It reports progress and can be canceled. It can read only the files and folders of
 * the events, and cannot access the network.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { fileProblem } from './fileProblems.ts';
import { type Parameters, quoteText } from './sql.ts';

/**
 * Thrown if the events cannot be read now, because a file is missing or corrupt, or because the engine or the disk failed.
 */
export class EventsUnavailable extends Error {
  override name = 'EventsUnavailable';
}

/**
 * Thrown if the engine runs out of memory during a query (perhaps because of parallel queries), or cannot run the query.
 */
export class QueryFailed extends EventsUnavailable {
  override name = 'QueryFailed';
}
const BY_QUERY = /\b(Out of Memory|Parser|Binder|Not implemented|INTERNAL) Error\b/;

/** Options for canceling a query and following its progress. */
export interface Watch {
  signal?: AbortSignal | undefined;
  /** Called during the scan with the percentage done, 0 to 100. */
  onProgress?: ((percent: number) => void) | undefined;
}

export interface Engine {
  /** Runs `work` with a new connection, and converts the engine's errors to EventsUnavailable. */
  use<T>(watch: Watch, work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const POLL_MS = 100;
/** DuckDB tracks progress only for a connection with these settings. */
const PROGRESS = ['enable_progress_bar = true', 'enable_progress_bar_print = false', 'progress_bar_time = 0'];

interface EngineOptions {
  files: string[];
  memoryLimit?: string | undefined;
  threads?: number | undefined;
}

export async function startEngine(options: EngineOptions): Promise<Engine> {
  const scratch = await mkdtemp(join(tmpdir(), 'mex-events-')).catch((error: Error) => {
    throw new EventsUnavailable(`No scratch folder in ${tmpdir()}: ${error.message}`, { cause: error });
  });
  const instance = await startInstance(options, scratch).catch(async (error: Error) => {
    await rm(scratch, { recursive: true, force: true });
    throw error;
  });
  const running = new Set<Promise<unknown>>();
  const closing = new AbortController();

  return {
    use(watch, work) {
      if (closing.signal.aborted) return Promise.reject(new EventsUnavailable('The events were closed.'));
      const job = withConnection(instance, { ...watch, closing: closing.signal }, work);
      running.add(job);
      const done = () => running.delete(job);
      job.then(done, done);
      return job;
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await Promise.allSettled(running);
      instance.closeSync();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function startInstance(options: EngineOptions, scratch: string): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads ?? availableParallelism()),
    memory_limit: options.memoryLimit ?? '512MB',
    temp_directory: scratch,
    // Never download extensions. Parquet, CSV, and time zones are built in.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'false',
  }).catch((error: Error) => {
    throw new Error(
      `The query engine does not start with memoryLimit and threads as given: ${error.message}`,
    );
  });
  const connection = await instance.connect();
  try {
    for (const statement of confinement(options.files)) await connection.run(statement);
  } finally {
    connection.closeSync();
  }
  return instance;
}

/** Returns SQL statements that restrict the engine to the given files and folders, and that lock the settings. */
function confinement(files: string[]): string[] {
  const patterns = files.filter(isPattern);
  const list = (paths: string[]) => `[${paths.map(quoteText).join(', ')}]`;
  return [
    "SET GLOBAL TimeZone = 'UTC'",
    `SET GLOBAL allowed_paths = ${list(files.filter((file) => !isPattern(file)))}`,
    `SET GLOBAL allowed_directories = ${list(patterns.map(folderOf))}`,
    "SET GLOBAL allowed_configs = ['enable_progress_bar', 'enable_progress_bar_print', 'progress_bar_time']",
    'SET GLOBAL enable_external_access = false',
    'SET GLOBAL lock_configuration = true',
  ];
}

const isPattern = (file: string) => /[*?[\]{}]/.test(file);
const folderOf = (pattern: string) => dirname(`${pattern.slice(0, pattern.search(/[*?[\]{}]/))}x`);

/** Makes paths absolute, so that changing the working directory later has no effect. Does not expand patterns. */
export function localFiles(files: string | string[]): string[] {
  const all = [files].flat();
  if (all.length === 0) throw new Error('files must name at least one Parquet or CSV file.');
  const remote = all.find((file) => /^[a-z][a-z0-9+.-]+:\/\//i.test(file));
  if (remote !== undefined) throw new Error(`files must be on this machine, and ${remote} is not.`);
  return all.map((file) => resolve(file));
}

async function withConnection<T>(
  instance: DuckDBInstance,
  watch: Watch & { closing: AbortSignal },
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  watch.signal?.throwIfAborted();
  const stopped = () => watch.signal?.aborted || watch.closing.aborted;
  const connection = await instance.connect().catch((error) => {
    throw translate(error);
  });
  // Repeat the interrupt, because DuckDB ignores an interrupt that arrives between two statements.
  const timer = setInterval(() => {
    if (stopped()) connection.interrupt();
    else if (watch.onProgress && connection.progress.percentage >= 0) {
      watch.onProgress(Math.min(connection.progress.percentage, 100));
    }
  }, POLL_MS);
  const interrupt = () => connection.interrupt();
  watch.signal?.addEventListener('abort', interrupt);
  watch.closing.addEventListener('abort', interrupt);
  try {
    if (watch.onProgress) for (const setting of PROGRESS) await connection.run(`SET ${setting}`);
    const result = await work(connection);
    watch.signal?.throwIfAborted();
    watch.onProgress?.(100);
    return result;
  } catch (error) {
    watch.signal?.throwIfAborted();
    if (watch.closing.aborted) throw new EventsUnavailable('The events were closed.', { cause: error });
    throw translate(error);
  } finally {
    clearInterval(timer);
    watch.signal?.removeEventListener('abort', interrupt);
    watch.closing.removeEventListener('abort', interrupt);
    connection.closeSync();
  }
}

export async function rowsOf(connection: DuckDBConnection, sql: string, parameters: Parameters) {
  const reader = await connection.runAndReadAll(sql, parameters.values, parameters.types);
  return reader.getRows();
}

/** Streams a statement's rows in batches of a few thousand. */
export async function* chunksOf(connection: DuckDBConnection, sql: string, parameters: Parameters) {
  const result = await connection.stream(sql, parameters.values, parameters.types);
  yield* result.yieldRows();
}

/** The number of rows in a batch. It is large enough to make the cost of passing a batch to another thread negligible. */
const PEOPLE_AT_ONCE = 1 << 16;

/** An array of VIDs. Their type in the engine is UINTEGER or BIGINT. */
export type Vids = Uint32Array | BigInt64Array;

/** Streams the rows of a statement with two columns: the VID, and the frequency as a UTINYINT. Neither may be NULL. */
export async function* peopleOf<V extends Vids>(
  connection: DuckDBConnection,
  sql: string,
  parameters: Parameters,
  ofVids: new (length: number) => V,
): AsyncGenerator<{ vids: V; frequencies: Uint8Array }> {
  const result = await connection.stream(sql, parameters.values, parameters.types);
  let [vids, frequencies, length] = [new ofVids(PEOPLE_AT_ONCE), new Uint8Array(PEOPLE_AT_ONCE), 0];
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const [vid, frequency, { rowCount }] = [chunk.getColumnVector(0), chunk.getColumnVector(1), chunk];
    for (let i = 0; i < rowCount; i++) {
      vids[length] = vid.getItem(i) as V[number];
      frequencies[length++] = frequency.getItem(i) as number;
      if (length < PEOPLE_AT_ONCE) continue;
      yield { vids, frequencies };
      [vids, frequencies, length] = [new ofVids(PEOPLE_AT_ONCE), new Uint8Array(PEOPLE_AT_ONCE), 0];
    }
  }
  if (length > 0) yield { vids: vids.slice(0, length) as V, frequencies: frequencies.slice(0, length) };
}

/**
 * Converts the engine's plain Errors to EventsUnavailable. Filters are checked before they reach the engine, so an error
 * comes from the data, the disk, or the engine itself.
 */
function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  const problem = fileProblem(error.message);
  if (problem !== undefined) return new EventsUnavailable(problem, { cause: error });
  // The first line has the reason. The other lines quote the SQL statement.
  const reason = error.message.split('\n', 1)[0];
  if (BY_QUERY.test(reason!)) return new QueryFailed(`The query failed: ${reason}`, { cause: error });
  return new EventsUnavailable(`The events cannot be read: ${reason}`, { cause: error });
}
