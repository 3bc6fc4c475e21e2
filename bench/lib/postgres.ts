/** Starts a PostgreSQL server in a temporary folder, which is removed when the server stops. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import { migrate } from '@measurement-exchange/exchange/maintenance';
import pg from 'pg';
import { processorMsOfAll } from './exchange.ts';

export interface BenchDatabase {
  url: string;
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  /** Closes the connections but keeps the database. */
  close: () => Promise<void>;
  drop: () => Promise<void>;
}

export interface BenchServer {
  /**
   * Creates a database, and by default runs the migrations in it. Pass `migrated: false` if an exchange will migrate
   * the database.
   */
  createDatabase: (options?: { migrated: boolean }) => Promise<BenchDatabase>;
  /** Opens a database that another process created. */
  openDatabase: (name: string) => BenchDatabase;
  query: BenchDatabase['query'];
  /** The processor time of all server processes so far, including processes that have ended. */
  processorMs: () => number;
  stop: () => Promise<void>;
}

/** These settings do not reduce durability: fsync and synchronous_commit stay on. */
const SETTINGS = {
  // These limits avoid checkpoints during a round. A checkpoint would slow down only the target that is being measured
  // at that moment.
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
};

export async function startServer(settings: Record<string, string> = {}): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-bench-'));
  const unset = await startPostgres({ dataDir });
  const client = new pg.Client(unset.url);
  await client.connect();
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings })) {
    await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  }
  await client.end();
  await unset.stop();
  const server = await startPostgres({ dataDir });
  const pool = new pg.Pool({ connectionString: server.url, max: 2 });
  pool.on('error', () => {});
  const query: BenchServer['query'] = async (text, values) => (await pool.query(text, values)).rows;
  let databases = 0;
  const open = (name: string) =>
    openDatabase(server.url.replace(/\/mex(?=\?|$)/, `/${name}`), () =>
      query(`DROP DATABASE ${name} WITH (FORCE)`),
    );
  return {
    query,
    openDatabase: open,
    processorMs: () => processorMsOfAll(server.pid),
    createDatabase: async ({ migrated } = { migrated: true }) => {
      const name = `bench_${++databases}`;
      await query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
      const database = open(name);
      if (migrated) await migrate({ connection: { connectionString: database.url }, mode: 'development' });
      return database;
    },
    stop: async () => {
      await pool.end();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function openDatabase(url: string, dropIt: () => Promise<unknown>): BenchDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {});
  return {
    url,
    query: async (text, values) => {
      const result: pg.QueryResult | pg.QueryResult[] = await pool.query(text, values);
      return Array.isArray(result) ? result.at(-1)!.rows : result.rows;
    },
    close: () => pool.end(),
    drop: async () => {
      await pool.end();
      await dropIt();
    },
  };
}
