/** Which events a query selects. */
import { DuckDBTimestampValue, TIMESTAMP, VARCHAR } from '@duckdb/node-api';
import { bucketRange } from '../../privacy/vidSampling.ts';
import {
  type AttributeType,
  compileFilter,
  type Filter,
  InvalidQuery,
  type SqlContext,
} from '../filter/index.ts';
import { type Columns, DUCKDB_TYPES } from './columns.ts';
import type { EventQuery } from './query.ts';
import type { Parameters } from './sql.ts';

/** Event groups that share an interval and a filter. */
export interface Selection {
  references: string[];
  interval: { start: Date; end: Date };
  filter: PushedFilter | undefined;
}

/** A filter split into what SQL evaluates and what is left to CEL. */
export type PushedFilter = ReturnType<Filter['pushDown']>;

/** Throws InvalidQuery for a query that can never be computed. */
export function selectionsOf(query: EventQuery, attributes: Record<string, AttributeType>): Selection[] {
  try {
    bucketRange(query.vidSampling);
  } catch (error) {
    throw new InvalidQuery((error as Error).message, { cause: error });
  }
  const filters = new Map<string, PushedFilter>();
  const selections = new Map<string, Selection>();
  for (const { reference, interval, filter = '' } of query.eventGroups) {
    const [start, end] = [interval.start.getTime(), interval.end.getTime()];
    if (!(start < end))
      throw new InvalidQuery(`The interval of event group ${reference} is empty or not a time.`);
    if (filter !== '' && !filters.has(filter)) {
      filters.set(filter, compileFilter(filter, attributes).pushDown());
    }
    const key = JSON.stringify([start, end, filter]);
    const known = selections.get(key);
    if (known !== undefined) known.references.push(reference);
    else selections.set(key, { references: [reference], interval, filter: filters.get(filter) });
  }
  return [...selections.values()];
}

/** The part of a selection's condition that SQL evaluates. */
export function conditionOf(selection: Selection, columns: Columns, parameters: Parameters): string {
  const references = selection.references.map((reference) => parameters.bind(reference, VARCHAR));
  const conditions = [
    `${columns.eventGroup} IN (${references.join(', ')})`,
    columns.within(selection.interval, parameters),
  ];
  if (selection.filter?.sql) conditions.push(selection.filter.sql(contextOf(columns, parameters)));
  return conditions.join(' AND ');
}

function contextOf(columns: Columns, parameters: Parameters): SqlContext {
  return {
    attribute: (name) => columns.attributes.get(name)!.sql,
    bind: (value, type) =>
      type === 'timestamp'
        ? parameters.bind(new DuckDBTimestampValue(value as bigint), TIMESTAMP)
        : parameters.bind(value, DUCKDB_TYPES[type]),
  };
}
