/** The database of a duchy, for tests. */
import { randomBytes } from 'node:crypto';
import { Database, migrate, Secrets } from '@measurement-exchange/duchy/internal/database/index';
import pg from 'pg';
import { inject } from 'vitest';
import { onServer, withDatabase } from './globalSetup.ts';

export interface DuchyDatabase {
  url: string;
  db: Database;
  /** Opens the database as another process of the same duchy would. */
  open(): Database;
  secretsKey: Uint8Array;
  /** Runs SQL directly in the database. */
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** Creates a database by cloning a migrated template database. The first caller creates the template. */
export async function createDuchyDatabase(): Promise<DuchyDatabase> {
  const server = inject('serverUrl');
  const name = `duchy_${randomBytes(6).toString('hex')}`;
  await onServer(
    server,
    `CREATE DATABASE ${name} TEMPLATE ${await duchyTemplate(server)} STRATEGY FILE_COPY`,
  );
  const url = withDatabase(server, name);
  const connection = { connectionString: url };
  const secretsKey = randomBytes(32);
  const opened: Database[] = [];
  const open = () => {
    const secrets = new Secrets(secretsKey);
    const db = new Database({ connection, secrets, applicationName: 'test', maxConnections: 4 });
    opened.push(db);
    return db;
  };
  const pool = new pg.Pool({ ...connection, max: 2 });
  // Ignore errors of idle connections. Dropping the database may end connections that the pool is still closing.
  pool.on('error', () => {});
  return {
    url,
    db: open(),
    open,
    secretsKey,
    query: async (text, values) => (await pool.query(text, values)).rows,
    async drop() {
      await Promise.all(opened.filter(({ pool }) => !pool.ending).map((db) => db.close()));
      await pool.end();
      await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/**
 * Returns the name of the template database, and creates the template if it does not exist. Several workers may call
 * this function in parallel, so the template gets its final name only when it is complete.
 */
async function duchyTemplate(server: string): Promise<string> {
  const template = `${inject('template')}_duchy`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [template]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) {
      await client.query(`DROP DATABASE IF EXISTS ${template}_partial WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${template}_partial TEMPLATE template0 ENCODING 'UTF8'`);
      await migrate({ connectionString: withDatabase(server, `${template}_partial`) });
      await client.query(`ALTER DATABASE ${template}_partial RENAME TO ${template}`);
    }
  } finally {
    await client.end();
  }
  return template;
}
