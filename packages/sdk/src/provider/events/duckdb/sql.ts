/** Quotes names and binds values in SQL. */
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Quotes text where SQL does not accept bound values, such as in settings. Use it only for the operator's own text. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The values bound to one statement. `bind` returns a placeholder. */
export class Parameters {
  readonly values: DuckDBValue[] = [];
  readonly types: DuckDBType[] = [];

  bind(value: DuckDBValue, type: DuckDBType): string {
    this.values.push(value);
    this.types.push(type);
    return `$${this.values.length}`;
  }
}
