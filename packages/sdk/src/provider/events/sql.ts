/** Pieces of SQL text: names are quoted, values are bound. */
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** For the few places that take no bound value (settings); only ever the operator's own configuration. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The bound values of one statement; `bind` gives the placeholder to write. */
export class Parameters {
  readonly values: DuckDBValue[] = [];
  readonly types: DuckDBType[] = [];

  bind(value: DuckDBValue, type: DuckDBType): string {
    this.values.push(value);
    this.types.push(type);
    return `$${this.values.length}`;
  }
}
