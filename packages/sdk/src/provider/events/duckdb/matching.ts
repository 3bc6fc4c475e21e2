/**
 * Joins the events with temporary tables. Each table stores the combinations of attribute values that match one filter.
 */
import { randomBytes } from 'node:crypto';
import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { AttributeType, AttributeValue } from '../../../filters/types.ts';
import type { Matching } from '../source.ts';
import { type Columns, DUCKDB_TYPES } from './columns.ts';
import { quoteName } from './sql.ts';

/** No column of the events has such a name, so the names of both are never ambiguous. */
const UNIQUE = randomBytes(8).toString('hex');
const MATCHES = quoteName(`matches ${UNIQUE}`);
const columnName = (i: number) => quoteName(`value ${i} ${UNIQUE}`);
/** Qualifies the column with its table, because the events may have a column with the same name. */
const columnOf = (table: string, column: string) => `${quoteName(table)}.${column}`;

/** The temporary tables of one connection. Only that connection can use them. */
export class MatchingTables {
  private readonly connection: DuckDBConnection;
  private readonly columns: Columns;
  private readonly tables = new Map<Matching, string>();

  constructor(connection: DuckDBConnection, columns: Columns) {
    this.connection = connection;
    this.columns = columns;
  }

  /** Creates and fills the table of a filter. Does nothing if the table exists. */
  async fill(matching: Matching): Promise<void> {
    const { connection, columns, tables } = this;
    if (tables.has(matching)) return;
    const table = `@matching ${tables.size}`;
    tables.set(matching, table);
    const types = [...matching.attributes.map((name) => columns.attributes.get(name)!.type), 'bool'] as const;
    const duckTypes = types.map((type) => DUCKDB_TYPES[type]);
    const names = [...matching.attributes.map((_, i) => columnName(i)), MATCHES];
    const columnList = names.map((name, i) => `${name} ${duckTypes[i]}`).join(', ');
    await connection.run(`CREATE TEMP TABLE ${quoteName(table)} (${columnList})`);
    const appender = await connection.createAppender(table);
    for await (const rows of matching.rows) {
      const chunk = DuckDBDataChunk.create(duckTypes);
      chunk.setRows(rows.map((row) => [...row.map((value, i) => duckValue(value, types[i]!)), true]));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }

  /** Writes the JOIN clauses that follow the events in FROM. An event matches at most one row of each table. */
  join(): string {
    return [...this.tables]
      .map(([{ attributes }, table]) => {
        const equal = attributes.map(
          (name, i) =>
            `${this.columns.attributes.get(name)!.sql} IS NOT DISTINCT FROM ${columnOf(table, columnName(i))}`,
        );
        return ` LEFT JOIN ${quoteName(table)} ON ${equal.join(' AND ')}`;
      })
      .join('');
  }

  /** SQL condition: true if the event matches a row of the filter's table. */
  matched(matching: Matching): string {
    return `${columnOf(this.tables.get(matching)!, MATCHES)} IS NOT NULL`;
  }
}

function duckValue(value: AttributeValue, type: AttributeType): DuckDBValue {
  return type === 'timestamp' && typeof value === 'bigint'
    ? new DuckDBTimestampValue(value)
    : (value as DuckDBValue);
}
