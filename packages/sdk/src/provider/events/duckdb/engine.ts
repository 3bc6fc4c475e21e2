/**
 * The embedded query engine (DuckDB). It reports progress and can be canceled. It can read only the configured files,
 * the folders of file patterns, and remote addresses with a configured prefix. It has no other access to the network.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { EventsUnavailable } from '../errors.ts';
import type { People, VidForm, VidsOf, Watch } from '../source.ts';
import { Lease } from './lease.ts';
import { connectRemote, isRemote, type RemoteFiles, requireAllowed } from './remote.ts';
import { type Parameters, quoteText } from './sql.ts';

export interface Engine {
  /** Runs `work` with a new connection, and converts the engine's errors to EventsUnavailable or QueryFailed. */
  use<T>(watch: Watch, work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** Like `use`, for work that yields values one after another. */
  stream<T>(watch: Watch, work: (connection: DuckDBConnection) => AsyncIterable<T>): AsyncGenerator<T>;
  close(): Promise<void>;
}

interface EngineOptions {
  files: string[];
  /** The store of the files that are not on this machine. */
  remote?: RemoteFiles | undefined;
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
  const running = new Set<Lease>();
  const closing = new AbortController();
  const lease = (watch: Watch): Lease => {
    if (closing.signal.aborted) throw new EventsUnavailable('The events were closed.');
    watch.signal?.throwIfAborted();
    const leased = new Lease(instance, watch, closing.signal);
    running.add(leased);
    leased.ended.then(() => running.delete(leased));
    return leased;
  };

  return {
    async use(watch, work) {
      const leased = lease(watch);
      try {
        const result = await work(await leased.connect());
        leased.finish();
        return result;
      } catch (error) {
        throw leased.explain(error);
      } finally {
        leased.release();
      }
    },
    async *stream(watch, work) {
      const leased = lease(watch);
      try {
        yield* work(await leased.connect());
        leased.finish();
      } catch (error) {
        throw leased.explain(error);
      } finally {
        leased.release();
      }
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await Promise.all([...running].map(({ ended }) => ended));
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
    if (options.remote) await connectRemote(connection, options.remote, scratch);
    for (const statement of confinement(options)) await connection.run(statement);
  } finally {
    connection.closeSync();
  }
  return instance;
}

/**
 * Returns SQL statements that restrict the engine to the given files, the folders of file patterns, and the remote
 * prefixes. The last statement locks all settings except those for progress reports.
 */
export function confinement({ files, remote }: EngineOptions): string[] {
  const local = files.filter((file) => !isRemote(file));
  const folders = [...local.filter(isPattern).map(folderOf), ...(remote?.prefixes ?? [])];
  const list = (paths: string[]) => `[${paths.map(quoteText).join(', ')}]`;
  return [
    "SET GLOBAL TimeZone = 'UTC'",
    `SET GLOBAL allowed_paths = ${list(local.filter((file) => !isPattern(file)))}`,
    `SET GLOBAL allowed_directories = ${list(folders)}`,
    "SET GLOBAL allowed_configs = ['enable_progress_bar', 'enable_progress_bar_print', 'progress_bar_time']",
    'SET GLOBAL enable_external_access = false',
    'SET GLOBAL lock_configuration = true',
  ];
}

const isPattern = (file: string) => /[*?[\]{}]/.test(file);
const folderOf = (pattern: string) => dirname(`${pattern.slice(0, pattern.search(/[*?[\]{}]/))}x`);

/**
 * Checks that there is at least one path, and that the remote settings allow each remote address. Makes local paths
 * absolute, so that changing the working directory later has no effect. Does not expand patterns.
 */
export function eventFiles(files: string | string[], remote: RemoteFiles | undefined): string[] {
  const all = [files].flat();
  if (all.length === 0) throw new Error('files must name at least one Parquet or CSV file.');
  requireAllowed(all.filter(isRemote), remote);
  return all.map((file) => (isRemote(file) ? file : resolve(file)));
}

export async function rowsOf(connection: DuckDBConnection, sql: string, parameters: Parameters) {
  const reader = await connection.runAndReadAll(sql, parameters.values, parameters.types);
  return reader.getRows();
}

/** Streams a statement's rows in batches, which are DuckDB's data chunks of at most 2,048 rows. */
export async function* chunksOf(connection: DuckDBConnection, sql: string, parameters: Parameters) {
  const result = await connection.stream(sql, parameters.values, parameters.types);
  yield* result.yieldRows();
}

/**
 * The number of people that `peopleOf` yields at once. With this many people, the cost of passing them to another
 * thread is negligible.
 */
const PEOPLE_AT_ONCE = 1 << 16;

/**
 * Streams the rows of a statement with two columns: the VID, and the frequency as a UTINYINT. The rows must not contain
 * NULL.
 */
export async function* peopleOf<F extends VidForm>(
  connection: DuckDBConnection,
  sql: string,
  parameters: Parameters,
  ofVids: new (length: number) => VidsOf<F>,
): AsyncGenerator<People<F>> {
  const result = await connection.stream(sql, parameters.values, parameters.types);
  let [vids, frequencies, length] = [new ofVids(PEOPLE_AT_ONCE), new Uint8Array(PEOPLE_AT_ONCE), 0];
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const [vid, frequency, { rowCount }] = [chunk.getColumnVector(0), chunk.getColumnVector(1), chunk];
    for (let i = 0; i < rowCount; i++) {
      vids[length] = vid.getItem(i) as VidsOf<F>[number];
      frequencies[length++] = frequency.getItem(i) as number;
      if (length < PEOPLE_AT_ONCE) continue;
      yield { vids, frequencies };
      [vids, frequencies, length] = [new ofVids(PEOPLE_AT_ONCE), new Uint8Array(PEOPLE_AT_ONCE), 0];
    }
  }
  if (length > 0) {
    yield { vids: vids.slice(0, length) as VidsOf<F>, frequencies: frequencies.slice(0, length) };
  }
}
