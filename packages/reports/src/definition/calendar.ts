/** Converts days and weeks in a time zone to instants. */
import { WEEKDAYS } from './schema.ts';

/** An interval of days in a time zone. `end` is the day after the last day. */
export interface LocalInterval {
  start: string;
  end: string;
  timeZone: string;
}

/** An interval of instants, in RFC 3339 format and UTC. `end` is exclusive. */
export interface Period {
  start: string;
  end: string;
}

const DAY_MS = 86_400_000;

/** Returns midnight UTC of the day, in milliseconds since 1970. Returns undefined if the text is not a day. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text ? undefined : time;
}

export function isTimeZone(timeZone: string): boolean {
  try {
    formatFor(timeZone);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the periods of a figure, in order. The first and last weeks can be shorter than seven days. All cumulative
 * periods begin at the start of the interval.
 */
export function periodsOf(
  { start, end, timeZone }: LocalInterval,
  periods: string = 'total',
  cumulative = false,
): Period[] {
  const [first, last] = [parseDay(start)!, parseDay(end)!];
  const format = formatFor(timeZone);
  const bounds = boundsOf(first, last, periods).map((day) => midnight(day, format));
  return bounds.slice(1).map((to, i) => ({ start: bounds[cumulative ? 0 : i]!, end: to }));
}

function boundsOf(first: number, last: number, periods: string): number[] {
  const days = Array.from({ length: (last - first) / DAY_MS }, (_, i) => first + i * DAY_MS);
  if (periods === 'total') return [first, last];
  if (periods === 'daily') return [...days, last];
  const weekday = WEEKDAYS.findIndex((day) => periods === `weekly(${day})`);
  // Day 0 (1970-01-01) was a Thursday, which has index 3 in WEEKDAYS.
  const starts = days.filter((day) => (day / DAY_MS + 3) % 7 === weekday && day !== first);
  return [first, ...starts, last];
}

/** Returns the instant at which a day starts. If clocks skip midnight, the day starts after the gap. */
function midnight(day: number, format: Intl.DateTimeFormat): string {
  const guess = day - offsetAt(format, day);
  // The clocks may change between midnight UTC and local midnight, so compute again with the offset at local midnight.
  const corrected = day - offsetAt(format, guess);
  const exists = corrected + offsetAt(format, corrected) === day;
  const instant = exists ? corrected : Math.max(guess, corrected);
  return new Date(instant).toISOString().replace('.000Z', 'Z');
}

function offsetAt(format: Intl.DateTimeFormat, instant: number): number {
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second } = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - instant;
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const digits = '2-digit' as const;
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: digits, day: digits, hour: digits, minute: digits, second: digits },
  });
}
