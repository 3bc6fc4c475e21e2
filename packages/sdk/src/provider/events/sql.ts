/** Quotes names and binds values in SQL. */
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** For settings, which take no bound values; used only for the operator's own configuration. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The bound values of one statement; `bind` returns the placeholder. */
export class Parameters {
  readonly values: DuckDBValue[] = [];
  readonly types: DuckDBType[] = [];

  bind(value: DuckDBValue, type: DuckDBType): string {
    this.values.push(value);
    this.types.push(type);
    return `$${this.values.length}`;
  }
}
