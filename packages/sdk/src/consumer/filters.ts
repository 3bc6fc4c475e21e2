/** Checks the filters of a request before the measurement is created. */
import { type EventGroup, ExchangeError } from '@measurement-exchange/contract';
import type { FilterProblem } from '../filters/index.ts';
import type { Dependencies } from './deps.ts';
import { FilterRejected, type RejectedFilter } from './errors.ts';
import type { ReadRequest } from './request.ts';

interface Placed extends Omit<RejectedFilter, keyof FilterProblem> {
  filter: string;
}

/**
 * Throws `FilterRejected` unless every filter is valid CEL and calls only known functions. Makes no request to the
 * exchange.
 */
export async function requireSyntax({ dataProviders }: ReadRequest): Promise<void> {
  const filters = filtersOf(dataProviders);
  if (filters.length === 0) return;
  const { filterProblem } = await loadChecks();
  requireNone(filters.map((placed) => ({ placed, problem: filterProblem(placed.filter) })));
}

/**
 * Throws `FilterRejected` unless every filter matches the attributes that its event group publishes. Reads each event
 * group that has a filter from the exchange, unless `known` contains it.
 */
export async function requireAttributes(
  deps: Dependencies,
  { dataProviders }: ReadRequest,
  known: readonly EventGroup[] = [],
): Promise<void> {
  const filters = filtersOf(dataProviders).filter(({ eventGroup }) => eventGroup !== undefined);
  if (filters.length === 0) return;
  const { filterProblem } = await loadChecks();
  const groups = new Map(known.map((group) => [idOf(group.name!), group]));
  const missing = new Set(filters.map(({ eventGroup }) => idOf(eventGroup!))).difference(groups);
  for (const ids of chunks([...missing], READ_AT_ONCE)) {
    const found = await Promise.all(ids.map((id) => read(deps, id)));
    for (const [i, group] of found.entries()) if (group) groups.set(ids[i]!, group);
  }
  requireNone(
    filters.map((placed) => {
      const attributes = groups.get(idOf(placed.eventGroup!))?.attributes;
      return { placed, problem: filterProblem(placed.filter, attributes) };
    }),
  );
}

const READ_AT_ONCE = 10;

function* chunks<T>(items: T[], size: number): Generator<T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

/** Loads the filter checks on demand, because requests without filters do not need the parser and type checker. */
const loadChecks = () => import('../filters/index.ts');

const idOf = (name: string) => name.split('/').at(-1)!;

function filtersOf(dataProviders: ReadRequest['dataProviders']): Placed[] {
  return dataProviders.flatMap(({ name: dataProvider, selection }) => {
    const parts: { name?: string; filter: string | undefined }[] =
      'population' in selection ? [selection.population] : selection.eventGroups;
    return parts.flatMap(({ name, filter }) =>
      filter === undefined ? [] : [{ dataProvider, filter, ...(name !== undefined && { eventGroup: name }) }],
    );
  });
}

/**
 * Returns the event group, or undefined if it does not exist. If it does not exist, its filter is checked only for
 * syntax and function names.
 */
async function read({ client, credentials, signal }: Dependencies, id: string) {
  try {
    return await client.getEventGroup({ name: `${credentials.name}/eventGroups/${id}`, signal });
  } catch (error) {
    if (error instanceof ExchangeError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

function requireNone(checks: { placed: Placed; problem: FilterProblem | undefined }[]): void {
  const rejected = checks.flatMap(({ placed, problem }) => (problem ? [{ ...placed, ...problem }] : []));
  if (rejected.length > 0) throw new FilterRejected(rejected);
}
