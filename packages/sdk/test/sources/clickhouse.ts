/** Writes test tables to ClickHouse. */
import { randomBytes } from 'node:crypto';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { skipped, startClickHouse, type TestServer } from '@measurement-exchange/testkit/clickhouse/server';
import type { AttributeValue } from '../../src/filters/types.ts';
import type { TestColumn, TestSource, TestTable } from './testSource.ts';

const TYPES: Record<TestColumn['type'], string> = {
  string: 'String',
  int: 'Int64',
  uint: 'UInt64',
  double: 'Float64',
  bool: 'Bool',
  timestamp: "DateTime64(6, 'UTC')",
  date: 'Date32',
};
const SECOND_US = 1_000_000n;
const DAY_US = 86_400_000_000n;

let started: Promise<{ server: TestServer; client: ClickHouseClient }> | undefined;

/**
 * Returns the ClickHouse server of this test process and a client that can write. The first call starts the server,
 * unless CLICKHOUSE_URL names a running server. A started server stops when this process ends.
 */
export function testServer() {
  started ??= startClickHouse().then((server) => {
    const { user: username, password } = server.writer;
    return { server, client: createClient({ url: server.url, username, password }) };
  });
  return started;
}

export const clickHouse: TestSource = {
  name: 'ClickHouse',
  ...(skipped !== undefined && { skipped }),
  dialect: 'clickhouse',
  leastInSql: 0.1,
  load: (table) => loadTable(table),
};

/** Writes a table, and returns the settings for opening it. `layout` is the end of the CREATE TABLE statement. */
export async function loadTable(table: TestTable, layout = 'ENGINE = MergeTree ORDER BY tuple()') {
  const { server, client } = await testServer();
  const name = `events_${randomBytes(6).toString('hex')}`;
  const columns = table.columns.map(({ name: column, type, nullable }, i) => {
    const stored = nullable ? `Nullable(${TYPES[type]})` : TYPES[type];
    // Make text columns with an odd index LowCardinality, the type that real tables use most often for text.
    return `\`${column}\` ${type === 'string' && i % 2 === 1 ? `LowCardinality(${stored})` : stored}`;
  });
  await client.command({ query: `CREATE TABLE ${name} (${columns.join(', ')}) ${layout}` });
  if (table.rows.length > 0) {
    const rows = table.rows.map(
      (row) => `(${row.map((cell, i) => literal(cell, table.columns[i]!)).join(',')})`,
    );
    await client.command({ query: `INSERT INTO ${name} VALUES ${rows.join(',')}` });
  }
  const { user, password } = server.reader;
  return {
    where: {
      source: {
        kind: 'clickhouse' as const,
        url: server.url,
        table: name,
        user,
        password: async () => password,
      },
    },
    remove: async () => void (await client.command({ query: `DROP TABLE ${name}` })),
  };
}

const bits = new DataView(new ArrayBuffer(8));

function literal(value: AttributeValue, { type }: TestColumn): string {
  if (value === null || value === undefined) return 'NULL';
  switch (type) {
    case 'string':
      return `'${String(value).replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;
    case 'double':
      // Write whole numbers except 0 in decimal, which the server parses fastest. Write all other doubles as bits, so
      // that no precision is lost and the sign of -0 is kept.
      if (Number.isSafeInteger(value) && value !== 0) return String(value);
      bits.setFloat64(0, value as number);
      return `reinterpretAsFloat64(toUInt64(${bits.getBigUint64(0)}))`;
    case 'timestamp':
      if ((value as bigint) > 0n)
        return `${(value as bigint) / SECOND_US}.${String((value as bigint) % SECOND_US).padStart(6, '0')}`;
      return `fromUnixTimestamp64Micro(toInt64(${value}), 'UTC')`;
    case 'date':
      return `addDays(toDate32('1970-01-01'), ${(value as bigint) / DAY_US})`;
    default:
      return String(value);
  }
}
