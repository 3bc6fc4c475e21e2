/**
 * Evaluates the part of a filter that has no equivalent in SQL: CEL runs once for each combination of the attribute
 * values it depends on. The matching combinations become a table that the events are joined to.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { type AttributeValue, type Filter, FilterError } from '../filter/index.ts';
import { type Columns, DUCKDB_TYPES } from './columns.ts';
import { chunksOf, type Engine, type Watch } from './engine.ts';
import { conditionOf, type Selection } from './selection.ts';
import type { Source } from './source.ts';
import { Parameters, quoteName } from './sql.ts';

/** CEL steps, a fraction of a second, after which the event loop runs and the signal is checked. */
const STEPS_AT_ONCE = 500_000;
/** A few minutes. */
const MAX_STEPS = 2_000_000_000;

export interface Evaluation {
  rest: Filter;
  selections: Selection[];
  table: string;
}

export function evaluationsOf(selections: Selection[]): Evaluation[] {
  const byFilter = Map.groupBy(selections, ({ filter }) => filter?.rest);
  byFilter.delete(undefined);
  return [...byFilter].map(([rest, group], i) => ({
    rest: rest!,
    selections: group,
    table: `@evaluated ${i}`,
  }));
}

const MATCHES = quoteName('matches');
const columnName = (i: number) => quoteName(`value ${i}`);
/** Qualified: the events may have a column of the same name. */
const columnOf = (table: string, column: string) => `${quoteName(table)}.${column}`;

/** The join clause that follows the source; an event matches at most one row of each table. */
export function joinOf(evaluations: Evaluation[], columns: Columns): string {
  return evaluations
    .map(({ rest, table }) => {
      const equal = rest.attributes.map(
        (name, i) =>
          `${columns.attributes.get(name)!.sql} IS NOT DISTINCT FROM ${columnOf(table, columnName(i))}`,
      );
      return ` LEFT JOIN ${quoteName(table)} ON ${equal.join(' AND ')}`;
    })
    .join('');
}

/** Whether the event matched a row. */
export const matchedSql = ({ table }: Evaluation) => `${columnOf(table, MATCHES)} IS NOT NULL`;

/** Fills the table of an evaluation, on the connection that will use it. */
export async function evaluate(
  evaluation: Evaluation,
  connection: DuckDBConnection,
  { engine, source, columns }: { engine: Engine; source: Source; columns: Columns },
  watch: Watch,
): Promise<void> {
  const { rest, selections, table } = evaluation;
  const attributes = rest.attributes.map((name) => columns.attributes.get(name)!);
  const types = [...attributes.map(({ type }) => DUCKDB_TYPES[type]), DUCKDB_TYPES.bool];
  const names = [...attributes.map((_, i) => columnName(i)), MATCHES];
  const columnList = names.map((name, i) => `${name} ${types[i]}`).join(', ');
  await connection.run(`CREATE TEMP TABLE ${quoteName(table)} (${columnList})`);
  const appender = await connection.createAppender(table);
  // Uses a second connection: appending on this one would end the stream.
  await engine.use(watch, async (reader) => {
    const parameters = new Parameters();
    const condition = selections.map((selection) => conditionOf(selection, columns, parameters)).join(' OR ');
    const combinations = `SELECT DISTINCT ${attributes.map(({ sql }) => sql).join(', ')}
      FROM ${source.from(parameters)} WHERE ${condition}`;
    let steps = 0;
    let total = 0;
    for await (const rows of chunksOf(reader, combinations, parameters)) {
      const matching: DuckDBValue[][] = [];
      for (const row of rows) {
        if (rest.matches(valuesOf(rest, row))) matching.push([...row, true]);
        steps += rest.cost;
        if (steps < STEPS_AT_ONCE) continue;
        total += steps;
        steps = 0;
        if (total > MAX_STEPS) throw new FilterError('The filter takes too many steps over these attributes');
        await setImmediate();
        watch.signal?.throwIfAborted();
      }
      if (matching.length === 0) continue;
      const chunk = DuckDBDataChunk.create(types);
      chunk.setRows(matching);
      appender.appendDataChunk(chunk);
    }
  });
  appender.closeSync();
}

function valuesOf({ attributes }: Filter, row: DuckDBValue[]): Record<string, AttributeValue> {
  const values: Record<string, AttributeValue> = Object.create(null);
  for (const [i, name] of attributes.entries()) {
    const value = row[i];
    values[name] = value instanceof DuckDBTimestampValue ? value.micros : (value as AttributeValue);
  }
  return values;
}
