/** Builds PostgreSQL's SQL for a `SourceQuery`. */
import type { AttributeValue } from '../../../filters/types.ts';
import { QueryFailed } from '../errors.ts';
import type { Matching, SourceQuery, Summed } from '../source.ts';
import { conditionOf, type Writer } from '../statement.ts';
import type { Columns } from './columns.ts';
import { MAX_PARAMETERS, Parameters } from './parameters.ts';
import type { Statement } from './session.ts';
import { keySql } from './types.ts';

/** A table and its resolved columns. */
export interface Table {
  name: string;
  columns: Columns;
}

/** Writes `FROM … WHERE …` for the selected events, and binds the combinations of attribute values that CEL matched. */
export async function selectedEvents({ name, columns }: Table, query: SourceQuery, parameters: Parameters) {
  const joins = new Map<Matching, string>();
  let from = `FROM ${name} AS e`;
  for (const { matching } of query.selections) {
    if (matching === undefined || joins.has(matching)) continue;
    const alias = `m${joins.size}`;
    from += await joinSql(matching, alias, columns, parameters);
    joins.set(matching, alias);
  }
  const writer: Writer = {
    bind: (value, type) => parameters.bindConstant(value, type),
    attribute: (attribute) => columns.attributes.get(attribute)!.sql,
    vid: columns.vids.get(query.vid)!,
    references: (references) => columns.references(references, parameters),
    within: (interval) => columns.within(interval, parameters),
    matched: (matching) => `${joins.get(matching)}.row_number IS NOT NULL`,
    hasEvents: columns.hasEvents,
  };
  return `${from} WHERE ${conditionOf(query, writer)}`;
}

/**
 * Writes the JOIN of the events with the matching combinations. Each combination occurs once, so the join does not
 * repeat events. The join condition treats two NULLs as equal. Unlike IS NOT DISTINCT FROM, the condition allows a hash
 * join.
 */
async function joinSql(
  { attributes, rows }: Matching,
  alias: string,
  columns: Columns,
  parameters: Parameters,
): Promise<string> {
  const keys = attributes.map((name) => {
    const { sql, type } = columns.attributes.get(name)!;
    return keySql(sql, type);
  });
  const values: (string | null)[][] = keys.map(() => []);
  for await (const batch of rows) {
    for (const row of batch) for (const [i, column] of values.entries()) column.push(textOf(row[i]));
  }
  const arrays = keys.map(({ type }, i) => parameters.bind(values[i]!, `${type}[]`));
  const equal = keys.map(({ sql, empty }, i) => {
    const value = `${alias}.v${i}`;
    return `coalesce(${sql}, ${empty}) = coalesce(${value}, ${empty}) AND (${sql} IS NULL) = (${value} IS NULL)`;
  });
  const names = keys.map((_, i) => `v${i}`);
  return ` LEFT JOIN unnest(${arrays.join(', ')}) WITH ORDINALITY AS ${alias}(${[...names, 'row_number'].join(', ')})
    ON ${equal.join(' AND ')}`;
}

const textOf = (value: AttributeValue) => (value === null || value === undefined ? null : String(value));

/**
 * Writes a statement that returns one row for each VID. The column `value` has the number of the VID's events or their
 * total duration in milliseconds, but at most `cap`. In the row for events without a VID, `value` is negative, and its
 * absolute value is the number of these events.
 */
export async function peopleStatement(
  table: Table,
  query: SourceQuery,
  what: Summed,
  cap: bigint,
): Promise<Statement> {
  const { vids, count, durationMillis } = table.columns;
  const parameters = new Parameters();
  const selected = await selectedEvents(table, query, parameters);
  const events = count === undefined ? 'count(*)' : `sum(${count})`;
  const total = what === 'events' ? events : `sum(${durationMillis})`;
  const sql = `SELECT vid, CASE WHEN vid IS NULL THEN -events ELSE least(total, ${parameters.bind(cap, 'int8')}) END AS value
    FROM (SELECT ${vids.get(query.vid)} AS vid, ${events} AS events, ${total} AS total ${selected} GROUP BY 1) AS people`;
  return finished(sql, parameters);
}

/** Writes a statement that returns the distinct combinations of the attributes' values in the selected events. */
export async function combinationsStatement(
  table: Table,
  query: SourceQuery,
  attributes: readonly string[],
  limit: number,
): Promise<Statement> {
  const parameters = new Parameters();
  const keys = attributes.map((name) => {
    const { sql, type } = table.columns.attributes.get(name)!;
    return keySql(sql, type).sql;
  });
  const selected = await selectedEvents(table, query, parameters);
  return finished(`SELECT DISTINCT ${keys.join(', ')} ${selected} LIMIT ${limit}`, parameters);
}

function finished(sql: string, { values }: Parameters): Statement {
  if (values.length <= MAX_PARAMETERS) return { sql, values };
  throw new QueryFailed(
    `The query has more than ${MAX_PARAMETERS} values: ask about fewer event groups at once.`,
  );
}
