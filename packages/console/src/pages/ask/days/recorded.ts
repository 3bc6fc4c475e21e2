/** Determines which days publishers have recorded, and the default days of a new measurement. */
import type { Interval } from '@measurement-exchange/contract';
import { addDays, addMonths, countOf, type Day, type DayRange, dayOf } from './days.ts';

/** How much of a day is recorded. `part` means part of the day, or only some of the event groups. */
export type Recorded = 'all' | 'part' | 'none' | 'unknown';

/** Returns how much of a day the event groups have recorded. Ignores event groups without an interval. */
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

/** Returns the end of a recorded interval, but no later than now. */
const endOf = (endTime: string | undefined, now: Date) =>
  Math.min(endTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(endTime), now.getTime());

/**
 * The maximum number of days in the default range. A longer range would cost more, because a measurement charges the
 * privacy budget of each day in its range.
 */
const MAX_DEFAULT_DAYS = 92;

/**
 * Returns the days that all event groups have recorded completely. Ignores event groups without a completely recorded
 * day, such as groups without an interval. If the other groups have no such day in common, returns the range from their
 * first to their last completely recorded day. If all groups are ignored, returns the last 28 days. A range of more
 * than MAX_DEFAULT_DAYS days is shortened to its last days.
 */
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

export function campaignRange(groups: readonly (Interval | undefined)[], now: Date): DayRange | undefined {
  const known = groups.flatMap((interval) => wholeDays(interval, now) ?? []);
  if (known.length === 0) return undefined;
  return { from: earliest(known.map(({ from }) => from)), until: latest(known.map(({ until }) => until)) };
}

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
