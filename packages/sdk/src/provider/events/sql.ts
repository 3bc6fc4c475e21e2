/** Quotes names and binds values in SQL. */
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Quotes a value in a setting, where values cannot be bound. Only values from the operator's configuration are quoted. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The bound values of one statement; `bind` returns a placeholder. */
export class Parameters {
  readonly values: DuckDBValue[] = [];
  readonly types: DuckDBType[] = [];

  bind(value: DuckDBValue, type: DuckDBType): string {
    this.values.push(value);
    this.types.push(type);
    return `$${this.values.length}`;
  }
}
