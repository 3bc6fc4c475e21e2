/** The database of a duchy, for tests. */
import { randomBytes } from 'node:crypto';
import { Database, migrate, Secrets } from '@measurement-exchange/duchy/internal/database/index';
import pg from 'pg';
import { inject } from 'vitest';
import { onServer, withDatabase } from './globalSetup.ts';

export interface DuchyDatabase {
  url: string;
  db: Database;
  /** Another process of the same duchy. */
  open(): Database;
  secretsKey: Uint8Array;
  /** Straight in the database. */
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

/** A new one, with its tables. */
export async function createDuchyDatabase(): Promise<DuchyDatabase> {
  const server = inject('serverUrl');
  const name = `duchy_${randomBytes(6).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = withDatabase(server, name);
  const connection = { connectionString: url };
  await migrate(connection);
  const secretsKey = randomBytes(32);
  const opened: Database[] = [];
  const open = () => {
    const secrets = new Secrets(secretsKey);
    const db = new Database({ connection, secrets, applicationName: 'test', maxConnections: 4 });
    opened.push(db);
    return db;
  };
  const pool = new pg.Pool({ ...connection, max: 2 });
  // Dropping the database may end connections that the pool is still closing.
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
