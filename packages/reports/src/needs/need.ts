/**
 * A need describes one quantity that a report must measure. Equal needs have equal keys, so each need is measured only
 * once across all reports.
 */
import type { Period } from '../definition/calendar.ts';
import type { Segment } from '../definition/definition.ts';

export type NeedType = 'REACH' | 'REACH_AND_FREQUENCY' | 'IMPRESSION' | 'DURATION';

/**
 * A part of an event group: the events that match at least one of the filters, or all events if there are no filters.
 */
export interface Cell {
  eventGroup: string;
  filters: string[];
}

/** A group of people, given by the value of each attribute. An empty object means everybody. */
export type Group = Readonly<Record<string, string>>;

export interface Need {
  type: NeedType;
  /** Sorted by event group. */
  cells: Cell[];
  period: Period;
  group: Group;
  vidSamplingInterval: { start: number; width: number };
  modelLine?: string;
  /** The highest frequency of a distribution. It stands for "this frequency or more". */
  maximumFrequency?: number;
  /** The cap on one person's impressions or watch seconds. */
  maximumPerPerson?: number;
}

/** Returns the cells that together contain the events of all the segments. */
export function cellsOf(segments: readonly Segment[]): Cell[] {
  const filters = new Map<string, Set<string> | 'all'>();
  for (const { eventGroups, filter } of segments) {
    for (const eventGroup of eventGroups) {
      const known = filters.get(eventGroup);
      if (filter === undefined || known === 'all') filters.set(eventGroup, 'all');
      else filters.set(eventGroup, new Set([...(known ?? []), filter]));
    }
  }
  return [...filters]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([eventGroup, of]) => ({ eventGroup, filters: of === 'all' ? [] : [...of].sort() }));
}

/** Returns the cell's filters as one CEL expression, or undefined if the cell includes all events. */
export function filterOf({ filters }: Cell): string | undefined {
  if (filters.length < 2) return filters[0];
  return filters.map((filter) => `(${filter})`).join(' || ');
}

export function dataProviderOf(eventGroup: string): string {
  return eventGroup.split('/').slice(0, 2).join('/');
}

export function dataProvidersOf({ cells }: Pick<Need, 'cells'>): string[] {
  return [...new Set(cells.map(({ eventGroup }) => dataProviderOf(eventGroup)))];
}

/** Returns the need as JSON, with the members of objects in alphabetical order. */
export function canonicalForm(need: Need): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
  };
  return JSON.stringify(sorted(need));
}

/** Returns the SHA-256 of the canonical form, in hexadecimal. */
export async function keyOf(need: Need): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalForm(need)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function periodId({ start, end }: Period): string {
  return `${start}/${end}`;
}

export function groupId(group: Group): string {
  return Object.entries(group)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([attribute, value]) => `${attribute}=${value}`)
    .join(',');
}
