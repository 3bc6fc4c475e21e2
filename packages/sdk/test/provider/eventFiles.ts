/** Writes event files for tests with a DuckDB instance of its own, which the code under test does not use. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type JS } from '@duckdb/node-api';

export interface EventFiles {
  path(name: string): string;
  /** Writes the rows of a query as Parquet, or as CSV if the name ends with `.csv`. Returns the file's path. */
  write(name: string, query: string): Promise<string>;
  rows(query: string): Promise<Record<string, JS>[]>;
  remove(): Promise<void>;
}

export async function eventFiles(): Promise<EventFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'events-'));
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return {
    path: (name) => join(folder, name),
    async write(name, query) {
      const file = join(folder, name);
      const format = name.endsWith('.csv') ? 'csv, HEADER' : 'parquet';
      await connection.run(`COPY (${query}) TO '${file.replaceAll("'", "''")}' (FORMAT ${format})`);
      return file;
    },
    rows: async (query) => (await connection.runAndReadAll(query)).getRowObjectsJS(),
    async remove() {
      connection.closeSync();
      instance.closeSync();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
