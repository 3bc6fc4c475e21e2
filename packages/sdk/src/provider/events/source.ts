/** Reads the event files as a table. */
import { DuckDBListValue, type DuckDBType, LIST, VARCHAR } from '@duckdb/node-api';
import {
  type Column,
  type ColumnNames,
  configuredAttributes,
  DEFAULT_COLUMNS,
  DUCKDB_TYPES,
} from './columns.ts';
import type { Engine } from './engine.ts';
import { Parameters, quoteText } from './sql.ts';

export interface Source {
  columns: Column[];
  /**
   * Writes the table expression for FROM. It binds the file names as given, so that each query expands the patterns again.
   */
  from(parameters: Parameters): string;
}

export async function sourceOf(
  engine: Engine,
  files: string[],
  { format, columns: names }: { format?: 'parquet' | 'csv'; columns?: ColumnNames },
): Promise<Source> {
  const isCsv = format === undefined ? /\.(csv|tsv)(\.gz|\.zst)?$/i.test(files[0]!) : format === 'csv';
  const bindFiles = (parameters: Parameters) => parameters.bind(new DuckDBListValue(files), LIST(VARCHAR));
  if (!isCsv) {
    const from: Source['from'] = (parameters) => `read_parquet(${bindFiles(parameters)})`;
    return { columns: await columnsOf(engine, from), from };
  }
  const guessed = await columnsOf(
    engine,
    (parameters) => `read_csv(${bindFiles(parameters)}, header = true)`,
  );
  // References are text even if they look like numbers: 007 is not 7.
  const fixed = new Map<string, DuckDBType>([[names?.eventGroup ?? DEFAULT_COLUMNS.eventGroup, VARCHAR]]);
  for (const [name, type] of configuredAttributes(names?.attributes ?? []))
    if (type) fixed.set(name, DUCKDB_TYPES[type]);
  const columns = guessed.map(({ name, type }) => ({ name, type: fixed.get(name) ?? type }));
  // Fix the guessed types now, so that files added later do not change them.
  const types = columns.map(({ name, type }) => `${quoteText(name)}: ${quoteText(String(type))}`).join(', ');
  const from: Source['from'] = (parameters) =>
    `read_csv(${bindFiles(parameters)}, header = true, types = {${types}})`;
  return { columns, from };
}

function columnsOf(engine: Engine, from: Source['from']): Promise<Column[]> {
  return engine.use({}, async (connection) => {
    const parameters = new Parameters();
    const sql = `SELECT * FROM ${from(parameters)} LIMIT 0`;
    const result = await connection.run(sql, parameters.values, parameters.types);
    return result.columnNames().map((name, i) => ({ name, type: result.columnType(i) }));
  });
}
