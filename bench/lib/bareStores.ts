/** Yardstick: counts a provider's events with handwritten SQL, through each store's own client library. */
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { CAMPAIGN, EVENT_GROUP } from './audiences.ts';
import type { StorePlace } from './eventStores.ts';

export const MAX_FREQUENCY = 10;

export interface BareStore {
  /**
   * Reads how many people have each number of events. A number of events above MAX_FREQUENCY counts as MAX_FREQUENCY.
   * Returns the total number of people.
   */
  histogram(): Promise<number>;
  /** Reads every person's VID and number of events (at most MAX_FREQUENCY), and returns the number of people. */
  people(): Promise<number>;
  close(): Promise<void>;
}

const [START, END] = [CAMPAIGN.start, CAMPAIGN.end].map((time) => time.slice(0, 19).replace('T', ' '));

const peopleSql = (from: string, time: (text: string) => string) =>
  `SELECT vid, least(count(*), ${MAX_FREQUENCY}) AS n FROM ${from} WHERE event_group = '${EVENT_GROUP}'
    AND timestamp >= ${time(START!)} AND timestamp < ${time(END!)} AND device = 'phone' GROUP BY vid`;
const histogramSql = (people: string) => `SELECT n, count(*) AS people FROM (${people}) AS people GROUP BY n`;
const sum = (counts: unknown[]) => counts.reduce<number>((total, count) => total + Number(count), 0);

export async function openBare(place: StorePlace): Promise<BareStore> {
  if (place.kind === 'files') return bareFiles(place.file);
  return place.kind === 'postgres' ? barePostgres(place) : bareClickHouse(place);
}

type ServerPlace = Exclude<StorePlace, { kind: 'files' }>;

async function bareFiles(file: string): Promise<BareStore> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: '512MB',
    preserve_insertion_order: 'false',
  });
  const connection = await instance.connect();
  const people = peopleSql(`read_parquet('${file}')`, (text) => `TIMESTAMP '${text}'`);
  return {
    async histogram() {
      const rows = (await connection.runAndReadAll(histogramSql(people))).getRows();
      return sum(rows.map(([, count]) => count));
    },
    async people() {
      const result = await connection.stream(people);
      let found = 0;
      for (
        let chunk = await result.fetchChunk();
        chunk && chunk.rowCount > 0;
        chunk = await result.fetchChunk()
      ) {
        const [vid, n] = [chunk.getColumnVector(0), chunk.getColumnVector(1)];
        for (let i = 0; i < chunk.rowCount; i++)
          if (vid.getItem(i) !== null && n.getItem(i) !== null) found++;
      }
      return found;
    },
    async close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function barePostgres({ url, table, user, password }: ServerPlace): Promise<BareStore> {
  const { hostname, port, pathname } = new URL(url);
  const host = decodeURIComponent(hostname);
  const client = new pg.Client({
    host,
    port: Number(port || 5432),
    database: pathname.slice(1),
    user,
    password,
  });
  await client.connect();
  const people = peopleSql(table, (text) => `timestamptz '${text}Z'`);
  return {
    async histogram() {
      const { rows } = await client.query(histogramSql(people));
      return sum(rows.map((row) => row.people));
    },
    async people() {
      await client.query(`BEGIN; DECLARE people NO SCROLL CURSOR FOR ${people}`);
      let found = 0;
      for (let read = -1; read !== 0; found += read) {
        read = (await client.query({ text: 'FETCH 10000 FROM people', rowMode: 'array' })).rows.length;
      }
      await client.query('COMMIT');
      return found;
    },
    close: () => client.end(),
  };
}

const ROW_BYTES = 9;

async function bareClickHouse({ url, table, user: username, password }: ServerPlace): Promise<BareStore> {
  const client = createClient({
    url,
    username,
    password,
    request_timeout: 3_600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const people = peopleSql(table, (text) => `toDateTime('${text}', 'UTC')`);
  return {
    async histogram() {
      const result = await client.query({ query: histogramSql(people), format: 'JSONCompact' });
      const { data } = await result.json<[unknown, string]>();
      return sum(data.map(([, count]) => count));
    },
    async people() {
      const query = `SELECT vid, toUInt8(n) FROM (${people}) FORMAT RowBinary`;
      const { stream } = await client.exec({ query });
      let [found, rest] = [0, Buffer.alloc(0)];
      for await (const chunk of stream) {
        const bytes = Buffer.concat([rest, chunk as Buffer]);
        let at = 0;
        for (; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
          if (bytes.readUInt32LE(at) > 0 && bytes[at + 8]! > 0) found++;
        }
        rest = bytes.subarray(at);
      }
      return found;
    },
    close: () => client.close(),
  };
}
