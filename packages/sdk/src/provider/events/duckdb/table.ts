/** Helpers for SQL table expressions that read files. */
import { DuckDBListValue, LIST, VARCHAR } from '@duckdb/node-api';
import type { Column } from './columns.ts';
import type { Engine } from './engine.ts';
import { Parameters } from './sql.ts';

/** Returns a table expression for a FROM clause, and binds the values in the expression as parameters. */
export type From = (parameters: Parameters) => string;

export function bindFiles(files: string[], parameters: Parameters): string {
  return parameters.bind(new DuckDBListValue(files), LIST(VARCHAR));
}

export function columnsOf(engine: Engine, from: From): Promise<Column[]> {
  return engine.use({}, async (connection) => {
    const parameters = new Parameters();
    const sql = `SELECT * FROM ${from(parameters)} LIMIT 0`;
    const result = await connection.run(sql, parameters.values, parameters.types);
    return result.columnNames().map((name, i) => ({ name, type: result.columnType(i) }));
  });
}
