/**
 * Resolves `person.<attribute>` in filters. The attributes of each VID come from the provider's own population, never
 * from the events or the exchange.
 */
import { gapsBetween, type Interval, joinIntervals } from '@measurement-exchange/mpc/charges';
import { FilterError } from '../../filters/errors.ts';
import { isPersonAttribute, personAttribute } from '../../filters/person.ts';
import type { AttributeType, AttributeValue } from '../../filters/types.ts';
import { compile, match } from '../filter/evaluator.ts';
import type { CompiledFilter, FilterText } from '../filter/requests.ts';
import type { Population } from '../population.ts';

/** A filter, and the people to whose events the filter applies. */
export interface PeopleFilter {
  /** The VIDs of these people. Absent: all people. */
  vids?: Interval[];
  filter: SelectionFilter;
}

export type SelectionFilter = FilterText & { compiled: CompiledFilter };

/**
 * A filter after `resolveFilter` has looked up the attributes of people in a population. An event matches the filter if
 * the event matches one of `parts`.
 */
export interface ResolvedFilter {
  parts: PeopleFilter[];
  /**
   * The VIDs whose events can match, or undefined if every VID's events can match. The conditions that use only
   * attributes of people determine these VIDs.
   */
  vids: Interval[] | undefined;
}

const ALL_VIDS: Interval = { start: -(2n ** 63n), end: 2n ** 63n - 1n };
/**
 * The maximum number of groups for a filter with a condition that mixes attributes of people and attributes of events.
 * The people of a group have the same attribute values. Such a filter is compiled once for each group.
 */
const MAX_MIXED_GROUPS = 64;

/** Returns the attributes that filters may use: those of events, and those of people. */
export function filterAttributes(
  events: Readonly<Record<string, AttributeType>>,
  population: Population | undefined,
): Record<string, AttributeType> {
  return Object.fromEntries([
    ...Object.entries(events).filter(([name]) => !isPersonAttribute(name)),
    ...Object.entries(population?.attributes ?? {}).map(
      ([name, type]) => [personAttribute(name), type] as const,
    ),
  ]);
}

export async function resolveFilter(
  text: FilterText,
  population: Population | undefined,
): Promise<ResolvedFilter> {
  const compiled = await compile(text);
  const { people, mixed } = compiled;
  if (population === undefined || (people === undefined && mixed === undefined)) {
    return { parts: [{ filter: { ...text, compiled } }], vids: undefined };
  }
  const used = [...new Set([...(people?.attributes ?? []), ...(mixed?.attributes ?? [])])].filter(
    isPersonAttribute,
  );
  const groups = groupsOf(population, used);
  const selected = people === undefined ? groups : await matching(text, people, groups);
  const vids = people && joinIntervals(selected.flatMap((group) => group.vids));
  if (mixed === undefined) return { parts: [{ filter: { ...text, compiled }, vids: vids! }], vids };
  if (selected.length > MAX_MIXED_GROUPS) {
    throw new FilterError(
      'FILTER_LIMIT',
      `The filter mixes attributes of people and of events, for more than ${MAX_MIXED_GROUPS} groups of people: ` +
        'put the attributes of people into conditions of their own, joined by &&.',
    );
  }
  const parts: PeopleFilter[] = [];
  for (const group of selected) {
    const own = { ...text, values: group.values };
    parts.push({ vids: group.vids, filter: { ...own, compiled: await compile(own) } });
  }
  return { parts, vids };
}

/** People with the same values of some attributes. */
interface Group {
  values: Record<string, AttributeValue>;
  vids: Interval[];
}

/**
 * Groups all VIDs by their values of the given attributes. For a VID outside of all subpopulations, the value of every
 * attribute is null.
 */
function groupsOf({ subpopulations, ranges }: Population, attributes: readonly string[]): Group[] {
  const groups = new Map<string, Group>();
  const add = (values: Record<string, AttributeValue>, vids: readonly Interval[]) => {
    const key = JSON.stringify(attributes.map((name) => [typeof values[name], String(values[name])]));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { values, vids: [...vids] });
    else group.vids.push(...vids);
  };
  for (const part of subpopulations) {
    const own = Object.entries(part.values).map(([name, value]) => [personAttribute(name), value] as const);
    const known: Record<string, AttributeValue> = Object.fromEntries(own);
    add(Object.fromEntries(attributes.map((name) => [name, known[name] ?? null])), part.ranges);
  }
  add(Object.fromEntries(attributes.map((name) => [name, null])), gapsBetween(ranges, ALL_VIDS));
  return [...groups.values()].map(({ values, vids }) => ({ values, vids: joinIntervals(vids) }));
}

/** The maximum number of CEL steps for all groups of a population. They take less than a minute. */
const MAX_GROUP_STEPS = 50_000_000;

/** Returns the groups for which the conditions that use only attributes of people are true. */
async function matching(
  text: FilterText,
  { attributes, cost }: NonNullable<CompiledFilter['people']>,
  groups: Group[],
): Promise<Group[]> {
  if (cost * groups.length > MAX_GROUP_STEPS) {
    throw new FilterError(
      'FILTER_LIMIT',
      `The conditions on people take more than ${MAX_GROUP_STEPS} steps for the ${groups.length} groups of the population: shorten them.`,
    );
  }
  const rows = groups.map(({ values }) => attributes.map((name) => values[name]));
  const matched = await match(text, { part: 'people', cost, rows });
  return groups.filter((_, i) => matched[i]);
}
