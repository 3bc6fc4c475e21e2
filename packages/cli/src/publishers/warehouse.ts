/**
 * Copies a publisher's events to the embedded PostgreSQL server of a development exchange. The publisher's agent counts
 * the events on this server, with an account that can only read them.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { startPostgres } from '@measurement-exchange/exchange/postgres';
import type { ServerSource } from '@measurement-exchange/sdk/provider';
import pg from 'pg';
import type { Audience } from './audience.ts';

/** A separate database, so that the account cannot see the exchange's tables. */
const DATABASE = 'publishers';

const COLUMNS = {
  vid: 'int8',
  timestamp: 'timestamptz',
  event_group: 'text',
  duration: 'int4',
  gender: 'text',
  age_group: 'text',
  device: 'text',
};

/**
 * Copies a publisher's events to the server. The exchange must be running, because the server belongs to the exchange
 * and stops together with it.
 */
export async function fillWarehouse(
  db: DuckDBConnection,
  { dataProvider, file }: Audience,
  dataDir: string,
): Promise<ServerSource> {
  const { connection } = await startPostgres({ dataDir });
  const publisher = dataProvider.split('/')[1]!;
  const account = `${publisher}_reader`;
  await onServer(connection, async (server) => {
    const databases = await server.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (databases.rows.length === 0) await server.query(`CREATE DATABASE ${DATABASE}`);
    const roles = await server.query('SELECT FROM pg_roles WHERE rolname = $1', [account]);
    if (roles.rows.length === 0) await server.query(`CREATE ROLE ${account} LOGIN`);
  });
  await onServer({ ...connection, database: DATABASE }, (server) =>
    fill(server, publisher, account, () => rowsOf(db, file)),
  );
  const { host, port } = connection;
  return {
    kind: 'postgres',
    url: `postgres:///${DATABASE}?host=${encodeURIComponent(host)}&port=${port}`,
    table: `${publisher}.impressions`,
    user: account,
  };
}

/**
 * Creates and fills the table if it does not exist. An existing table is up to date, because the events never change.
 */
async function fill(
  server: pg.Client,
  schema: string,
  account: string,
  rows: () => Promise<string[][]>,
): Promise<void> {
  const table = `${schema}.impressions`;
  const found = await server.query('SELECT to_regclass($1) IS NULL AS missing', [table]);
  if (!found.rows[0].missing) return;
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  const arrays = Object.values(COLUMNS).map((type, i) => `$${i + 1}::${type}[]`);
  await server.query(`BEGIN; CREATE SCHEMA ${schema}; CREATE TABLE ${table} (${columns.join(', ')})`);
  await server.query(`INSERT INTO ${table} SELECT * FROM unnest(${arrays.join(', ')})`, await rows());
  await server.query(`CREATE INDEX ON ${table} (event_group, timestamp); GRANT USAGE ON SCHEMA ${schema} TO ${account};
    GRANT SELECT ON ${table} TO ${account}; COMMIT`);
}

/** Returns the events as one array of strings per column. */
async function rowsOf(db: DuckDBConnection, file: string): Promise<string[][]> {
  const columns = Object.keys(COLUMNS).map((name) =>
    name === 'timestamp' ? `timestamp || 'Z'` : `${name}::VARCHAR`,
  );
  const path = file.replaceAll("'", "''");
  const reader = await db.runAndReadAll(`SELECT ${columns.join(', ')} FROM read_parquet('${path}')`);
  return reader.getColumns() as string[][];
}

async function onServer<T>(connection: pg.ClientConfig, work: (server: pg.Client) => Promise<T>): Promise<T> {
  const server = new pg.Client({ ...connection, ssl: false });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}
