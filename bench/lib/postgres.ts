/** One PostgreSQL server for the whole run, in a folder that goes with it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import { migrate } from '@measurement-exchange/exchange/maintenance';
import pg from 'pg';

export interface BenchDatabase {
  url: string;
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  /** Closes its connections, and leaves it. */
  close: () => Promise<void>;
  drop: () => Promise<void>;
}

export interface BenchServer {
  /** Empty, migrated. */
  createDatabase: () => Promise<BenchDatabase>;
  /** One that somebody else made. */
  openDatabase: (name: string) => BenchDatabase;
  query: BenchDatabase['query'];
  stop: () => Promise<void>;
}

/** Nothing of durability: fsync and synchronous_commit stay on. */
const SETTINGS = [
  // A checkpoint in the middle of a round would slow down whoever is measured then.
  "ALTER SYSTEM SET max_wal_size = '16GB'",
  "ALTER SYSTEM SET checkpoint_timeout = '1h'",
  'SELECT pg_reload_conf()',
];

export async function startServer(): Promise<BenchServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-bench-'));
  const server = await startPostgres({ dataDir });
  const pool = new pg.Pool({ connectionString: server.url, max: 2 });
  pool.on('error', () => {});
  const query: BenchServer['query'] = async (text, values) => (await pool.query(text, values)).rows;
  for (const setting of SETTINGS) await query(setting);
  let databases = 0;
  const open = (name: string) =>
    openDatabase(server.url.replace(/\/mex(?=\?|$)/, `/${name}`), () =>
      query(`DROP DATABASE ${name} WITH (FORCE)`),
    );
  return {
    query,
    openDatabase: open,
    createDatabase: async () => {
      const name = `bench_${++databases}`;
      await query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
      const database = open(name);
      await migrate({ connection: { connectionString: database.url }, mode: 'development' });
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
