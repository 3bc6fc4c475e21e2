/** Writes a first definition for a consumer's event groups. People edit it afterward. */
import { parseDay } from './calendar.ts';
import type { FigureRequest, ReportDefinition } from './definition.ts';
import { MAX_SEGMENTS, WEEKDAYS } from './schema.ts';

export interface StarterEventGroup {
  /** The resource name under the data provider: `dataProviders/x/eventGroups/y`. */
  name: string;
  /** The time range of the event group's events, in RFC 3339 format. */
  startTime?: string | undefined;
  endTime?: string | undefined;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 28;
/** If the definition has more segments than this, it does not ask for the exclusive reach of each segment. */
const MAX_OVERLAPPING = 4;

/**
 * Returns a definition with one segment for each data provider, up to MAX_SEGMENTS. `now` is in milliseconds since
 * 1970.
 */
export function starterDefinition(eventGroups: readonly StarterEventGroup[], now: number): ReportDefinition {
  // Sort by name, so that the same event groups always produce the same definition.
  const sorted = eventGroups.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const providers = Map.groupBy(sorted, ({ name }) => name.split('/')[1]!);
  const chosen = [...providers].slice(0, MAX_SEGMENTS);
  const names = uniqueNames(chosen.map(([id]) => id));
  const segments = Object.fromEntries(
    chosen.map(([, groups], i) => [names[i]!, { eventGroups: groups.map(({ name }) => name) }]),
  );
  const interval = intervalOf(
    chosen.flatMap(([, groups]) => groups),
    now,
  );
  return {
    title: 'My campaign',
    interval,
    segments,
    ...(names.length > 1 && { sets: setsOf(names) }),
    figures: figuresOf(names, interval),
    budget: { rho: 0.2, delta: 1e-9 },
  };
}

/** Turns IDs into unique segment names, which contain only letters, digits, and _, and start with a letter. */
function uniqueNames(ids: readonly string[]): string[] {
  const names: string[] = [];
  for (const id of ids) {
    const plain = id.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(0, 30);
    const name = /^[A-Za-z]/.test(plain) ? plain : `p${plain}`;
    // Names of sets are taken, too (see `setsOf`).
    const taken = ['all', ...names, ...names.map((other) => `only_${other}`)];
    const isTaken = (one: string) => taken.includes(one) || names.includes(`only_${one}`);
    let unique = name;
    for (let n = 2; isTaken(unique); n++) unique = `${name}_${n}`;
    names.push(unique);
  }
  return names;
}

/**
 * Returns the last complete days (at most 92) on which all event groups have events. If there are no such days, or no
 * event group has a start time, returns the last four weeks.
 */
function intervalOf(eventGroups: readonly StarterEventGroup[], now: number): ReportDefinition['interval'] {
  const times = (pick: (group: StarterEventGroup) => string | undefined) =>
    eventGroups.flatMap((group) => pick(group) ?? []).map((time) => Date.parse(time));
  const end = Math.min(now, ...times(({ endTime }) => endTime));
  const start = Math.max(end - 92 * DAY_MS, ...times(({ startTime }) => startTime));
  const [from, to] = [Math.ceil(start / DAY_MS), Math.floor(end / DAY_MS)];
  const today = Math.floor(now / DAY_MS);
  const isKnown = from < to && times(({ startTime }) => startTime).length > 0;
  const [first, last] = isKnown ? [from, to] : [today - USUAL_DAYS, today];
  return { start: dayOf(first), end: dayOf(last), timeZone: 'UTC' };
}

const dayOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

function setsOf(names: readonly string[]): Record<string, string> {
  const only = names.map((name) => {
    const others = names.filter((other) => other !== name);
    const rest = others.length > 1 ? `(${others.join(' | ')})` : others[0]!;
    return [`only_${name}`, `${name} - ${rest}`];
  });
  return {
    all: names.join(' | '),
    ...(names.length <= MAX_OVERLAPPING && Object.fromEntries(only)),
  };
}

function figuresOf(names: readonly string[], { start, end }: ReportDefinition['interval']): FigureRequest[] {
  const [everything] = names.length > 1 ? ['all'] : names;
  const only = names.length > 1 && names.length <= MAX_OVERLAPPING ? names.map((name) => `only_${name}`) : [];
  const [first, last] = [parseDay(start)!, parseDay(end)!];
  // Day 0 (1970-01-01) was a Thursday, which has index 3 in WEEKDAYS.
  const weekday = WEEKDAYS[(first / DAY_MS + 3) % 7]!;
  const weeks: FigureRequest = {
    ...{ metric: 'reach', of: [everything!], periods: `weekly(${weekday})`, cumulative: true },
  };
  return [
    { metric: 'reach', of: [...new Set([everything!, ...names]), ...only] },
    ...(last - first > 7 * DAY_MS ? [weeks] : []),
    { metric: 'frequency', of: [everything!], maximumFrequency: 5 },
    { metric: 'impressions', of: [...new Set([everything!, ...names])] },
  ];
}
