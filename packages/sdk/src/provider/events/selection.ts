/** Converts a query to the SQL conditions that select its events. */
import { DuckDBTimestampValue, TIMESTAMP, VARCHAR } from '@duckdb/node-api';
import { bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import { FilterError } from '../../filters/errors.ts';
import type { AttributeType } from '../../filters/types.ts';
import { checkAt, RefusalError } from '../../refusals/refusalError.ts';
import { compile } from '../filter/evaluator.ts';
import type { CompiledFilter, FilterText, SqlTemplate } from '../filter/requests.ts';
import { type Columns, DUCKDB_TYPES } from './columns.ts';
import type { Engine } from './engine.ts';
import type { EventQuery } from './query.ts';
import type { Source } from './source.ts';
import { Parameters } from './sql.ts';

/** The event groups of a query that share an interval and a filter. */
export interface Selection {
  references: string[];
  interval: { start: Date; end: Date };
  filter: SelectionFilter | undefined;
}

export type SelectionFilter = FilterText & { compiled: CompiledFilter };

export interface EventData {
  engine: Engine;
  source: Source;
  columns: Columns;
  attributes: Readonly<Record<string, AttributeType>>;
  /** The maximum number of combinations of attribute values for a filter that CEL evaluates. */
  maximumCombinations: number;
}

/** The maximum number of CEL steps in a query, over all its filters and all combinations of attribute values. */
const MAX_STEPS = 5_000_000_000;
/**
 * The maximum number of SQL operations in all filters of a query. The engine allocates a buffer for each operation, and its
 * memory limit does not include these buffers.
 */
const MAX_SQL_COST = 5000;

/**
 * Returns the selections of a query. Throws RefusalError if the query can never be computed, or if its filters would take
 * too long with the maximum number of combinations. Reads no events.
 */
export async function selectionsOf(query: EventQuery, data: EventData): Promise<Selection[]> {
  const { columns, attributes, maximumCombinations } = data;
  try {
    bucketRange(query.vidSampling);
  } catch (error) {
    const at = 'measurementSpec.vidSamplingInterval';
    throw new RefusalError('VALUE_OUT_OF_RANGE', (error as Error).message, { at });
  }
  const filters = new Map<string, SelectionFilter>();
  const selections = new Map<string, Selection>();
  for (const [i, { reference, interval, filter = '' }] of query.eventGroups.entries()) {
    const [start, end] = [interval.start.getTime(), interval.end.getTime()];
    await checkAt(`events[${i}].interval`, async () => {
      if (!(start < end)) {
        throw new RefusalError('INTERVAL_INVALID', `The interval of ${reference} is empty or not a time.`);
      }
      // `within` throws if the timestamp column cannot contain the start or the end.
      columns.within(interval, new Parameters());
    });
    if (filter !== '' && !filters.has(filter)) {
      query.signal?.throwIfAborted();
      await checkAt(`events[${i}].filter`, async () => {
        const text = { expression: filter, attributes };
        filters.set(filter, { ...text, compiled: await compile(text) });
        requireAffordable([...filters.values()], maximumCombinations);
      });
    }
    const key = JSON.stringify([start, end, filter]);
    const known = selections.get(key);
    if (known !== undefined) known.references.push(reference);
    else selections.set(key, { references: [reference], interval, filter: filters.get(filter) });
  }
  return [...selections.values()];
}

function requireAffordable(filters: SelectionFilter[], maximumCombinations: number): void {
  const sum = (costOf: (filter: CompiledFilter) => number | undefined) =>
    filters.reduce((total, { compiled }) => total + (costOf(compiled) ?? 0), 0);
  const most = Math.floor(MAX_STEPS / maximumCombinations);
  if (sum(({ rest }) => rest?.cost) > most) {
    throw new FilterError(
      'FILTER_LIMIT',
      `The filters take more than ${most} steps for each combination of attributes: shorten their lists, texts and patterns.`,
    );
  }
  if (sum(({ sql }) => sql?.cost) > MAX_SQL_COST) {
    throw new FilterError(
      'FILTER_LIMIT',
      'The filters of this query are too long together: use fewer or shorter ones.',
    );
  }
}

/** Writes the part of a selection's condition that runs in SQL. */
export function conditionOf(selection: Selection, columns: Columns, parameters: Parameters): string {
  const references = selection.references.map((reference) => parameters.bind(reference, VARCHAR));
  const conditions = [
    `${columns.eventGroup} IN (${references.join(', ')})`,
    columns.within(selection.interval, parameters),
  ];
  const sql = selection.filter?.compiled.sql;
  if (sql !== undefined) conditions.push(written(sql, columns, parameters));
  return conditions.join(' AND ');
}

function written({ text, slots }: SqlTemplate, columns: Columns, parameters: Parameters): string {
  return text.replace(/\{(\d+)\}/g, (_, i) => {
    const slot = slots[Number(i)]!;
    if ('attribute' in slot) return columns.attributes.get(slot.attribute)!.sql;
    return slot.type === 'timestamp'
      ? parameters.bind(new DuckDBTimestampValue(slot.value as bigint), TIMESTAMP)
      : parameters.bind(slot.value, DUCKDB_TYPES[slot.type]);
  });
}
