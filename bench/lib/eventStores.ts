/**
 * Creates the same events in each kind of store. Every person has about the same number of events, all in one event
 * group. Only `crowdStore` creates other events.
 */
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DuckDBInstance } from '@duckdb/node-api';
import { skipped, startClickHouse } from '@measurement-exchange/testkit/clickhouse/server';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import type { BenchServer } from './postgres.ts';

/** The location of the events, as plain values that can be sent to another process. */
export type StorePlace =
  | { kind: 'files'; file: string }
  | {
      kind: 'postgres' | 'clickhouse';
      url: string;
      table: string;
      user: string;
      password: string;
      passes?: number;
    };

export interface EventStore {
  name: string;
  place: StorePlace;
  remove(): Promise<void>;
}

/** Returns the SQL for the VID of event `i`. The events of one person are `people` rows apart. */
const person = (i: string, people: number) => `1 + (${i} % ${people}) * 7919 % ${people}`;
const START = CAMPAIGN.start.slice(0, 19).replace('T', ' ');
const HOURS = 600;

export async function filesStore(folder: string, events: number, people: number): Promise<EventStore> {
  const file = join(folder, 'events.parquet');
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(`COPY (SELECT ${person('i', people)} AS vid, TIMESTAMP '${START}' + to_hours(i % ${HOURS}) AS timestamp,
    '${EVENT_GROUP}' AS event_group, CASE WHEN i % 3 = 0 THEN 'tv' ELSE 'phone' END AS device
    FROM range(${events}) AS r(i)) TO '${file}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
  return { name: 'Parquet files', place: { kind: 'files', file }, remove: async () => {} };
}

export async function postgresStore(
  server: BenchServer,
  events: number,
  people: number,
): Promise<EventStore> {
  const database = await server.createDatabase({ migrated: false });
  const url = new URL(database.url);
  const user = `reader_${process.pid}`;
  await database.query('CREATE SCHEMA ads');
  // The table is unlogged, so that 100 million events do not fill the disk a second time with their write-ahead log.
  await database.query(`CREATE UNLOGGED TABLE ads.events AS SELECT ${person('i', people)} AS vid,
    timestamptz '${START}Z' + (i % ${HOURS}) * interval '1 hour' AS timestamp, text '${EVENT_GROUP}' AS event_group,
    CASE WHEN i % 3 = 0 THEN 'tv' ELSE 'phone' END AS device FROM generate_series(0::int8, ${events - 1}) AS i`);
  await database.query('VACUUM ANALYZE ads.events');
  await database.query(`CREATE ROLE ${user} LOGIN PASSWORD 'bench'`);
  await database.query(`GRANT USAGE ON SCHEMA ads TO ${user}`);
  await database.query(`GRANT SELECT ON ads.events TO ${user}`);
  url.username = '';
  url.password = '';
  return {
    name: 'PostgreSQL',
    place: { kind: 'postgres', url: url.href, table: 'ads.events', user, password: 'bench' },
    async remove() {
      await database.drop();
      await server.query(`DROP ROLE ${user}`);
    },
  };
}

/** Returns undefined if ClickHouse cannot run on this machine. */
export function clickHouseStore(events: number, people: number): Promise<EventStore | undefined> {
  return inClickHouse((table) => [
    `CREATE TABLE ${table} (vid UInt64, timestamp DateTime('UTC'), event_group LowCardinality(String),
      device LowCardinality(String)) ENGINE = MergeTree ORDER BY (event_group, toDate(timestamp), vid)`,
    `INSERT INTO ${table} SELECT ${person('number', people)}, toDateTime('${START}', 'UTC') + (number % ${HOURS}) * 3600,
      '${EVENT_GROUP}', if(number % 3 = 0, 'tv', 'phone') FROM numbers(${events})`,
  ]);
}

/**
 * Creates a view that generates one event per person, so that many people need no disk space. The agent reads the view
 * in eight passes, which limits the memory of the ClickHouse server.
 */
export async function crowdStore(people: number): Promise<EventStore | undefined> {
  const store = await inClickHouse((view) => [
    `CREATE VIEW ${view} AS SELECT number + 1 AS vid, toDateTime('${START}', 'UTC') AS timestamp,
      '${EVENT_GROUP}' AS event_group, 'phone' AS device FROM numbers(${people})`,
  ]);
  return store && { ...store, place: { ...(store.place as StorePlace & { kind: 'clickhouse' }), passes: 8 } };
}

async function inClickHouse(statements: (table: string) => string[]): Promise<EventStore | undefined> {
  if (skipped !== undefined) return undefined;
  const server = await startClickHouse();
  const { user: username, password } = server.writer;
  const client = createClient({
    url: server.url,
    username,
    password,
    request_timeout: 3_600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const table = `bench_${process.pid}`;
  for (const query of statements(table)) await client.command({ query });
  const place = { kind: 'clickhouse', url: server.url, table, ...server.reader } as const;
  return {
    name: 'ClickHouse',
    place,
    async remove() {
      await client.command({ query: `DROP TABLE ${table}` });
      await client.close();
      await server.stop();
    },
  };
}
