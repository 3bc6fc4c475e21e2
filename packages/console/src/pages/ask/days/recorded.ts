/** Which days publishers have recorded, and the days that a new measurement starts with. */
import type { Interval } from '@measurement-exchange/contract';
import { addDays, addMonths, countOf, type Day, type DayRange, dayOf } from './days.ts';

/** Whether events of a day are recorded. `part`: a part of the day, or not in all event groups. */
export type Recorded = 'all' | 'part' | 'none' | 'unknown';

/** Returns how much of a day several event groups have recorded. An event group without an interval does not say. */
export function recordedOn(day: Day, groups: readonly (Interval | undefined)[], now: Date): Recorded {
  const known = groups
    .filter((interval) => interval !== undefined)
    .map((interval) => shareOf(day, interval, now));
  if (known.length === 0) return 'unknown';
  if (known.every((share) => share === 'all')) return 'all';
  return known.every((share) => share === 'none') ? 'none' : 'part';
}

function shareOf(day: Day, { startTime, endTime }: Interval, now: Date): Recorded {
  const [start, end] = [Date.parse(day), Date.parse(addDays(day, 1))];
  const [first, last] = [Date.parse(startTime), endOf(endTime, now)];
  if (first <= start && last >= end) return 'all';
  return first < end && last > start ? 'part' : 'none';
}

/** The recording of an open interval has reached the present. */
const endOf = (endTime: string | undefined, now: Date) =>
  Math.min(endTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(endTime), now.getTime());

/** A longer range is rarely meant, and charges the budgets of many days. */
const MAX_DEFAULT_DAYS = 92;

/** Returns the days that all event groups have recorded, or else the days that any of them has. */
export function defaultRange(groups: readonly (Interval | undefined)[], now: Date): DayRange {
  const known = groups.flatMap((interval) => wholeDays(interval, now) ?? []);
  if (known.length === 0) return lastDays(28, now);
  const all = {
    from: latest(known.map(({ from }) => from)),
    until: earliest(known.map(({ until }) => until)),
  };
  const any = {
    from: earliest(known.map(({ from }) => from)),
    until: latest(known.map(({ until }) => until)),
  };
  const range = all.from <= all.until ? all : any;
  return countOf(range) > MAX_DEFAULT_DAYS
    ? { ...range, from: addDays(range.until, 1 - MAX_DEFAULT_DAYS) }
    : range;
}

/** Returns all days that any of the event groups has recorded. */
export function campaignRange(groups: readonly (Interval | undefined)[], now: Date): DayRange | undefined {
  const known = groups.flatMap((interval) => wholeDays(interval, now) ?? []);
  if (known.length === 0) return undefined;
  return { from: earliest(known.map(({ from }) => from)), until: latest(known.map(({ until }) => until)) };
}

/** Returns the whole days of an interval, or undefined if it has no whole day. */
function wholeDays(interval: Interval | undefined, now: Date): DayRange | undefined {
  if (interval === undefined) return undefined;
  const { startTime, endTime } = interval;
  const startDay = dayOf(startTime);
  const from = Date.parse(startTime) > Date.parse(startDay) ? addDays(startDay, 1) : startDay;
  const until = addDays(dayOf(endOf(endTime, now)), -1);
  return from <= until ? { from, until } : undefined;
}

export function lastDays(days: number, now: Date): DayRange {
  const today = dayOf(now);
  return { from: addDays(today, -days), until: addDays(today, -1) };
}

export function lastMonth(now: Date): DayRange {
  const first = `${dayOf(now).slice(0, 7)}-01`;
  return { from: addMonths(first, -1), until: addDays(first, -1) };
}

const earliest = (days: Day[]) => days.toSorted()[0]!;
const latest = (days: Day[]) => days.toSorted().at(-1)!;
