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
  drop: () => Promise<void>;
}

export interface BenchServer {
  /** Empty, migrated. */
  createDatabase: () => Promise<BenchDatabase>;
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
  return {
    query,
    createDatabase: async () => {
      const name = `bench_${++databases}`;
      await query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
      const url = server.url.replace(/\/mex(?=\?|$)/, `/${name}`);
      await migrate({ connection: { connectionString: url }, mode: 'development' });
      return openDatabase(url, () => query(`DROP DATABASE ${name} WITH (FORCE)`));
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
    drop: async () => {
      await pool.end();
      await dropIt();
    },
  };
}
