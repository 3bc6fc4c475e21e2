/** Reads the event files as a table. */
import type { RoleNames } from '../columns.ts';
import type { Column, Columns } from './columns.ts';
import { csvReader } from './csv.ts';
import { type Engine, rowsOf } from './engine.ts';
import { Parameters, quoteText } from './sql.ts';
import { bindFiles, columnsOf, type From } from './table.ts';

export interface EventTable {
  columns: Column[];
  /**
   * Writes the table expression for a FROM clause. Binds the file patterns without expanding them, so that each query
   * reads the files that match the patterns when the query runs.
   */
  from: From;
  /** CSV only: like `from`, but stores each bad line in a table instead of failing. */
  fromWithRejects?: From;
  /** Returns the files that the patterns match now. */
  files(): Promise<string[]>;
  /** Returns the columns of one file, with the types in which they are read. */
  columnsOf(file: string): Promise<Column[]>;
}

/** The engine, and the event files that it has opened. */
export interface Opened {
  engine: Engine;
  table: EventTable;
  columns: Columns;
}

export async function openTable(
  engine: Engine,
  files: string[],
  { format, names }: { format: 'parquet' | 'csv' | undefined; names: RoleNames },
): Promise<EventTable> {
  const isCsv = format === undefined ? /\.(csv|tsv)(\.gz|\.zst)?$/i.test(files[0]!) : format === 'csv';
  const common = { files: () => matchingFiles(engine, files) };
  if (isCsv) return { ...common, ...(await csvReader(engine, files, names)) };
  const reading =
    (some: string[]): From =>
    (parameters) =>
      `read_parquet(${bindFiles(some, parameters)})`;
  return {
    ...common,
    columns: await columnsOf(engine, reading(files)),
    from: reading(files),
    columnsOf: (file) => columnsOf(engine, reading([file])),
  };
}

async function matchingFiles(engine: Engine, patterns: string[]): Promise<string[]> {
  const found = await engine.use({}, async (connection) => {
    const lists = patterns.map((pattern) => `SELECT file FROM glob(${quoteText(pattern)})`);
    return rowsOf(connection, lists.join(' UNION ALL '), new Parameters());
  });
  return found.map(([file]) => file as string);
}
