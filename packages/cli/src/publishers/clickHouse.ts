/**
 * Copies a publisher's events to a ClickHouse server that the developer runs. The publisher's agent counts them there.
 */
import { randomBytes } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ServerSource } from '@measurement-exchange/sdk/provider';
import type { Audience } from './audience.ts';

/** A separate database, so that nothing else on the server is touched. */
const DATABASE = 'mex_publishers';

const COLUMNS = {
  vid: 'UInt64',
  timestamp: "DateTime('UTC')",
  event_group: 'LowCardinality(String)',
  duration: 'UInt16',
  gender: 'LowCardinality(String)',
  age_group: 'LowCardinality(String)',
  device: 'LowCardinality(String)',
};

export interface ClickHouseServer {
  url: string;
  /** An account that can create databases and users. */
  username: string;
  password: string;
}

/** Returns the server at CLICKHOUSE_URL, or undefined if that variable is not set. Tests read the same variables. */
export function clickHouseOf(environment: NodeJS.ProcessEnv): ClickHouseServer | undefined {
  const { CLICKHOUSE_URL: url, CLICKHOUSE_USER: username, CLICKHOUSE_PASSWORD: password } = environment;
  return url ? { url, username: username ?? 'default', password: password ?? '' } : undefined;
}

/** Replaces the publisher's table, and the account that can only read this table. The account gets a new password. */
export async function fillClickHouse(
  db: DuckDBConnection,
  { dataProvider, file }: Audience,
  server: ClickHouseServer,
): Promise<ServerSource> {
  const publisher = dataProvider.split('/')[1]!;
  const [table, account] = [`${DATABASE}.${publisher}`, `mex_${publisher}`];
  const password = randomBytes(24).toString('base64url');
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
  const client = createClient(server);
  try {
    for (const query of [
      `CREATE DATABASE IF NOT EXISTS ${DATABASE}`,
      `DROP TABLE IF EXISTS ${table}`,
      `CREATE TABLE ${table} (${columns.join(', ')}) ENGINE = MergeTree ORDER BY (event_group, toDate(timestamp), vid)`,
      `INSERT INTO ${table} FORMAT JSONCompactEachRow\n${await linesOf(db, file)}`,
      `DROP USER IF EXISTS ${account}`,
      `CREATE USER ${account} IDENTIFIED BY '${password}' SETTINGS readonly = 2`,
      `GRANT SELECT ON ${table} TO ${account}`,
    ]) {
      await client.command({ query });
    }
  } finally {
    await client.close();
  }
  return { kind: 'clickhouse', url: server.url, table, user: account, password: async () => password };
}

/** Returns the events as one JSON array per line. */
async function linesOf(db: DuckDBConnection, file: string): Promise<string> {
  const names = Object.keys(COLUMNS).map((name) =>
    name === 'timestamp' ? `strftime(timestamp, '%Y-%m-%d %H:%M:%S')` : name,
  );
  const reader = await db.runAndReadAll(
    `SELECT ${names.join(', ')} FROM read_parquet('${file.replaceAll("'", "''")}')`,
  );
  return reader
    .getRowsJson()
    .map((row) => JSON.stringify(row))
    .join('\n');
}
