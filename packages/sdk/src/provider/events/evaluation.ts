/**
 * Evaluates the part of a filter that has no equivalent in SQL. CEL runs once for each distinct combination of the
 * attribute values that the filter depends on. The events are then joined with a table of the matching combinations.
 */
import {
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { AttributeValue } from '../../filters/types.ts';
import { QueryStopped } from '../filter/errors.ts';
import { match } from '../filter/evaluator.ts';
import { type Columns, DUCKDB_TYPES } from './columns.ts';
import { chunksOf, type Watch } from './engine.ts';
import { conditionOf, type EventData, type Selection, type SelectionFilter } from './selection.ts';
import { Parameters, quoteName } from './sql.ts';

export interface Evaluation {
  filter: SelectionFilter;
  selections: Selection[];
  table: string;
}

export function evaluationsOf(selections: Selection[]): Evaluation[] {
  const evaluated = selections.filter(({ filter }) => filter?.compiled.rest !== undefined);
  return [...Map.groupBy(evaluated, ({ filter }) => filter!)].map(([filter, group], i) => ({
    filter,
    selections: group,
    table: `@evaluated ${i}`,
  }));
}

const attributesOf = ({ filter }: Evaluation) => filter.compiled.rest!.attributes;
const MATCHES = quoteName('matches');
const columnName = (i: number) => quoteName(`value ${i}`);
/** Qualifies the column with its table, because the events may have a column with the same name. */
const columnOf = (table: string, column: string) => `${quoteName(table)}.${column}`;

/** Writes the JOIN clauses that follow the events in FROM. An event matches at most one row of each evaluation's table. */
export function joinOf(evaluations: Evaluation[], columns: Columns): string {
  return evaluations
    .map((evaluation) => {
      const equal = attributesOf(evaluation).map(
        (name, i) =>
          `${columns.attributes.get(name)!.sql} IS NOT DISTINCT FROM ${columnOf(evaluation.table, columnName(i))}`,
      );
      return ` LEFT JOIN ${quoteName(evaluation.table)} ON ${equal.join(' AND ')}`;
    })
    .join('');
}

/** SQL condition: true if the event matches a row of the evaluation's table. */
export const matchedSql = ({ table }: Evaluation) => `${columnOf(table, MATCHES)} IS NOT NULL`;

/** Creates and fills the evaluation's temporary table. Only `connection` can use this table. */
export async function evaluate(
  evaluation: Evaluation,
  connection: DuckDBConnection,
  { engine, source, columns, maximumCombinations }: EventData,
  watch: Watch,
): Promise<void> {
  const { filter, selections, table } = evaluation;
  const attributes = attributesOf(evaluation).map((name) => columns.attributes.get(name)!);
  const types = [...attributes.map(({ type }) => DUCKDB_TYPES[type]), DUCKDB_TYPES.bool];
  const names = [...attributes.map((_, i) => columnName(i)), MATCHES];
  const columnList = names.map((name, i) => `${name} ${types[i]}`).join(', ');
  await connection.run(`CREATE TEMP TABLE ${quoteName(table)} (${columnList})`);
  const appender = await connection.createAppender(table);
  // Read the combinations on a second connection, because appending on the same connection would end the stream.
  await engine.use(watch, async (reader) => {
    const parameters = new Parameters();
    const condition = selections.map((selection) => conditionOf(selection, columns, parameters)).join(' OR ');
    const combinations = `SELECT DISTINCT ${attributes.map(({ sql }) => sql).join(', ')}
      FROM ${source.from(parameters)} WHERE ${condition} LIMIT ${maximumCombinations + 1}`;
    let found = 0;
    for await (const rows of chunksOf(reader, combinations, parameters)) {
      found += rows.length;
      if (found > maximumCombinations) {
        throw new QueryStopped(
          `A filter depends on more than ${maximumCombinations} combinations of attributes, see maximumCombinations.`,
        );
      }
      const values = rows.map((row) => row.map(celValue));
      const matched = await match(
        filter,
        { part: 'rest', cost: filter.compiled.rest!.cost, rows: values },
        watch.signal,
      );
      const matching = rows.filter((_, i) => matched[i]).map((row): DuckDBValue[] => [...row, true]);
      if (matching.length === 0) continue;
      const chunk = DuckDBDataChunk.create(types);
      chunk.setRows(matching);
      appender.appendDataChunk(chunk);
    }
  });
  appender.closeSync();
}

const celValue = (value: DuckDBValue) =>
  value instanceof DuckDBTimestampValue ? value.micros : (value as AttributeValue);
