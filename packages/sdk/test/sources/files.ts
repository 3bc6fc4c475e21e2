/** Writes test tables to Parquet files. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBInstance,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  TIMESTAMP,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api';
import type { AttributeValue } from '../../src/filters/types.ts';
import type { TestColumn, TestSource, TestTable } from './testSource.ts';

const TYPES: Record<TestColumn['type'], DuckDBType> = {
  string: VARCHAR,
  int: BIGINT,
  uint: UBIGINT,
  double: DOUBLE,
  bool: BOOLEAN,
  timestamp: TIMESTAMP,
  date: DATE,
};
const CHUNK = 2048;
const DAY_US = 86_400_000_000n;

export const parquetFiles: TestSource = {
  name: 'Parquet files',
  dialect: 'duckdb',
  leastInSql: 0.2,
  async load(table) {
    const folder = await mkdtemp(join(tmpdir(), 'source-'));
    const file = join(folder, 'events.parquet');
    await write(table, file);
    return { where: { files: file }, remove: () => rm(folder, { recursive: true, force: true }) };
  },
};

async function write({ columns, rows }: TestTable, file: string): Promise<void> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const list = columns.map(
    ({ name, type, nullable }) => `"${name}" ${TYPES[type]}${nullable ? '' : ' NOT NULL'}`,
  );
  await connection.run(`CREATE TABLE events (${list.join(', ')})`);
  const appender = await connection.createAppender('events');
  for (let at = 0; at < rows.length; at += CHUNK) {
    const chunk = DuckDBDataChunk.create(columns.map(({ type }) => TYPES[type]));
    const values = rows
      .slice(at, at + CHUNK)
      .map((row) => row.map((cell, i) => duckValueOf(cell, columns[i]!)));
    chunk.setRows(values);
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  await connection.run(`COPY events TO '${file}' (FORMAT parquet)`);
  connection.closeSync();
  instance.closeSync();
}

function duckValueOf(value: AttributeValue, { type }: TestColumn): DuckDBValue {
  if (value === null || value === undefined) return null;
  if (type === 'timestamp') return new DuckDBTimestampValue(value as bigint);
  if (type === 'date') return new DuckDBDateValue(Number((value as bigint) / DAY_US));
  return value as DuckDBValue;
}
