/** Writes test tables to a PostgreSQL server. Each table has an account that may only read it. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { AttributeValue } from '../../src/filters/types.ts';
import type { PostgresSource } from '../../src/provider/events/postgres/connection.ts';
import type { TestColumn, TestTable } from './testSource.ts';

export interface LoadedTable {
  source: PostgresSource;
  remove(): Promise<void>;
}

/** Runs `work` on a superuser's connection. `url` is the server's URL. */
export async function onPostgres<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the URL without the account, as the settings require. */
export function publicUrl(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}

export async function loadTable(url: string, table: TestTable): Promise<LoadedTable> {
  const id = randomBytes(6).toString('hex');
  const [schema, account] = [`ads_${id}`, `reader_${id}`];
  await onPostgres(url, async (client) => {
    await client.query(`CREATE SCHEMA ${schema}`);
    const columns = table.columns.map(
      (column) => `"${column.name}" ${typeOf(column)}${column.nullable ? '' : ' NOT NULL'}`,
    );
    await client.query(`CREATE TABLE ${schema}.events (${columns.join(', ')})`);
    await insert(client, `${schema}.events`, table);
    await client.query(`CREATE ROLE ${account} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${account};
      GRANT SELECT ON ${schema}.events TO ${account}`);
  });
  return {
    source: { kind: 'postgres', url: publicUrl(url), table: `${schema}.events`, user: account },
    remove: () =>
      onPostgres(url, async (client) => {
        await client.query(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${account}`);
      }),
  };
}

/**
 * Returns the SQL type of a column. The `timestamp` column gets a type with a time zone, but a timestamp attribute gets
 * a type without one.
 */
function typeOf({ name, type }: TestColumn): string {
  const types = {
    string: 'text',
    int: 'int8',
    uint: 'numeric(20)',
    double: 'float8',
    bool: 'bool',
    date: 'date',
  };
  if (type === 'timestamp') return name === 'timestamp' ? 'timestamptz' : 'timestamp';
  return types[type];
}

const DAY_US = 86_400_000_000n;
const ARRAYS = {
  string: 'text',
  int: 'int8',
  uint: 'numeric',
  double: 'float8',
  bool: 'bool',
  timestamp: 'int8',
  date: 'int8',
};

async function insert(client: pg.Client, name: string, { columns, rows }: TestTable): Promise<void> {
  await client.query(`SET TimeZone = 'UTC'`);
  const values = columns.map(({ type }, i) => `${selected(type, i)}`);
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${ARRAYS[type]}[]`);
  const aliases = columns.map((_, i) => `v${i}`);
  const text = (value: AttributeValue) => (value === null || value === undefined ? null : String(value));
  await client.query(
    `INSERT INTO ${name} SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS u(${aliases.join(', ')})`,
    columns.map((_, i) => rows.map((row) => text(row[i]))),
  );
}

/**
 * Returns the SQL for the inserted value `v<i>`. The SQL converts microseconds to a time or a date without rounding.
 */
function selected(type: TestColumn['type'], i: number): string {
  if (type !== 'timestamp' && type !== 'date') return `v${i}`;
  const time = `TIMESTAMP 'epoch' + (v${i} / ${DAY_US}) * interval '1 day' + (v${i} % ${DAY_US}) * interval '1 microsecond'`;
  return type === 'date' ? `(${time})::date` : time;
}
