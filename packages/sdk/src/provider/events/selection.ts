/** Checks a query, and groups its event groups by interval and filter. */
import { bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import { FilterError } from '../../filters/errors.ts';
import { checkAt, RefusalError } from '../../refusals/refusalError.ts';
import type { CompiledFilter } from '../filter/requests.ts';
import type { Population } from '../population.ts';
import { filterAttributes, type ResolvedFilter, resolveFilter, type SelectionFilter } from './people.ts';
import type { EventQuery } from './query.ts';
import type { EventSource, VidRanges } from './source.ts';

/**
 * The event groups of a query that share an interval and a filter. A filter with several parts (see `ResolvedFilter`)
 * has one selection per part.
 */
export interface Selection {
  references: string[];
  interval: { start: Date; end: Date };
  /** The VIDs whose events are selected. Absent: everybody. */
  vids: VidRanges | undefined;
  filter: SelectionFilter | undefined;
}

/** A query that `checkQuery` has accepted. */
export interface CheckedQuery {
  selections: Selection[];
  people: SelectedPeople;
}

/** The people whose events a query can depend on. */
export interface SelectedPeople {
  /**
   * Identifies the VID column and the provider's population, because the same VID may mean a different person in
   * another column or population.
   */
  vidSpace: string;
  /** For each event group of the query, the VIDs whose events can match the group's filter. Undefined: everybody. */
  vids: (VidRanges | undefined)[];
  /**
   * Whether CEL evaluates a part of a filter. If so, CEL also reads attribute values of events whose people are not in
   * the sample.
   */
  isEvaluated: boolean;
}

export interface EventData {
  source: EventSource;
  /** The provider's own population. Filters may use its attributes as `person.<attribute>`. */
  population: Population | undefined;
  /** The VID column of each model line. Absent if all model lines share one VID column. */
  vidColumns: Readonly<Record<string, string>> | undefined;
  /** The maximum number of combinations of attribute values for a filter that CEL evaluates. */
  maximumCombinations: number;
}

/** The maximum number of CEL steps in a query, over all its filters and all combinations of attribute values. */
const MAX_STEPS = 5_000_000_000;
/**
 * The maximum number of SQL operations in all filters of a query. The engine allocates a buffer for each operation, and
 * its memory limit does not include these buffers.
 */
const MAX_SQL_COST = 5000;

/**
 * Checks a query. Throws RefusalError if the query can never be computed, or if its filters need too many SQL
 * operations or CEL steps. The CEL steps are counted as if the events had the maximum number of combinations of
 * attribute values. Reads no events.
 */
export async function checkQuery(query: EventQuery, data: EventData): Promise<CheckedQuery> {
  const { source, maximumCombinations } = data;
  const population = populationOf(query, data);
  const vidSpace = JSON.stringify([vidColumnOf(query, data), data.population?.fingerprint ?? null]);
  try {
    bucketRange(query.vidSampling);
  } catch (error) {
    const at = 'measurementSpec.vidSamplingInterval';
    throw new RefusalError('VALUE_OUT_OF_RANGE', (error as Error).message, { at });
  }
  const filters = new Map<string, ResolvedFilter>();
  const selections = new Map<string, Selection>();
  for (const [i, { reference, interval, filter = '' }] of query.eventGroups.entries()) {
    const [start, end] = [interval.start.getTime(), interval.end.getTime()];
    await checkAt(`events[${i}].interval`, async () => {
      if (!(start < end)) {
        throw new RefusalError('INTERVAL_INVALID', `The interval of ${reference} is empty or not a time.`);
      }
      const time = [interval.start, interval.end].find((each) => !source.canHold(each));
      if (time !== undefined) {
        throw new RefusalError(
          'INTERVAL_INVALID',
          `The timestamp column cannot contain ${time.toISOString()}.`,
        );
      }
    });
    if (filter !== '' && !filters.has(filter)) {
      query.signal?.throwIfAborted();
      await checkAt(`events[${i}].filter`, async () => {
        const attributes = filterAttributes(source.attributes, population);
        const text = { expression: filter, attributes, dialect: source.dialect };
        filters.set(filter, await resolveFilter(text, population));
        requireAffordable(compiledIn(filters.values()), maximumCombinations);
      });
    }
    for (const [n, { filter: own, vids }] of (filters.get(filter)?.parts ?? [NO_FILTER]).entries()) {
      const key = JSON.stringify([start, end, filter, n]);
      const known = selections.get(key);
      if (known !== undefined) known.references.push(reference);
      else selections.set(key, { references: [reference], interval, vids, filter: own });
    }
  }
  const people = {
    vidSpace,
    vids: query.eventGroups.map(({ filter = '' }) => filters.get(filter)?.vids),
    isEvaluated: compiledIn(filters.values()).some(({ rest }) => rest !== undefined),
  };
  return { selections: [...selections.values()], people };
}

const NO_FILTER = { filter: undefined, vids: undefined };

function compiledIn(filters: Iterable<ResolvedFilter>): CompiledFilter[] {
  return [...filters].flatMap(({ parts }) => parts.map(({ filter }) => filter.compiled));
}

/**
 * Returns the population whose attributes a query can use, or undefined if no population exists or fits. If the events
 * have several VID columns, the same VID may stand for a different person in each column. In this case, the population
 * fits only if one of its model lines uses the column that the query counts.
 */
function populationOf(query: EventQuery, data: EventData): Population | undefined {
  const { population, vidColumns } = data;
  if (population === undefined || vidColumns === undefined) return population;
  const column = vidColumnOf(query, data);
  if (new Set(Object.values(vidColumns)).size === 1) return population;
  const isOfColumn = (line: string) => Object.hasOwn(vidColumns, line) && vidColumns[line] === column;
  return population.modelLines.some(isOfColumn) ? population : undefined;
}

/**
 * Returns the name of the VID column for the query's model line. Throws RefusalError if the model line has no column.
 */
export function vidColumnOf({ modelLine = '' }: EventQuery, { source, vidColumns }: EventData): string {
  if (vidColumns === undefined) return source.columns.find(({ role }) => role === 'vid')!.name;
  const column = Object.hasOwn(vidColumns, modelLine) ? vidColumns[modelLine] : undefined;
  if (column !== undefined) return column;
  throw new RefusalError(
    'MODEL_LINE_NOT_OFFERED',
    modelLine === ''
      ? 'The question names no model line, and the events have a VID column for each model line.'
      : `The events have no VID column for the model line ${modelLine}, see vidColumns.`,
    { at: 'measurementSpec.modelLine' },
  );
}

function requireAffordable(filters: readonly CompiledFilter[], maximumCombinations: number): void {
  const sum = (costOf: (filter: CompiledFilter) => number | undefined) =>
    filters.reduce((total, compiled) => total + (costOf(compiled) ?? 0), 0);
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
