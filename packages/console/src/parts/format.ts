/** Numbers and times as the console writes them. */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const DAY_AND_YEAR = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  year: 'numeric',
  timeZone: 'UTC',
});

export const count = (value: number) => WHOLE.format(value);

/** A share from 0 to 1 in percent, such as `26.2 %`. */
export const percent = (share: number, digits = 1) => `${(share * 100).toFixed(digits)} %`;

export function day(time: string | Date): string {
  const date = new Date(time);
  return (date.getUTCFullYear() === new Date().getUTCFullYear() ? DAY : DAY_AND_YEAR).format(date);
}

/** The exact time in UTC, such as `Nov 18, 09:12 UTC`. */
export function moment(time: string | Date): string {
  return `${day(time)}, ${new Date(time).toISOString().slice(11, 16)} UTC`;
}

const LONG_DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });

/** A day for sentences, such as `November 18`. */
export const longDay = (time: string | Date) => LONG_DAY.format(new Date(time));

/** A time for sentences, such as `November 18, 02:00 UTC`. */
export function longMoment(time: string | Date): string {
  return `${longDay(time)}, ${new Date(time).toISOString().slice(11, 16)} UTC`;
}

/** A number with its noun, such as `1 publisher` or `3 publishers`. */
export const counted = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** A share in percentage points without the sign, such as `0.8`. A small one keeps its first digit, such as `0.02`. */
export function points(share: number): string {
  const value = share * 100;
  return value === 0 || value >= 0.1 ? value.toFixed(1) : String(Number(value.toPrecision(1)));
}

/** A 95 % interval. The upper end is Infinity if it is unknown. */
export type Interval = readonly [low: number, high: number];

/** How a unit writes a value and a margin. */
interface Writing {
  text(value: number): string;
  margin(value: number): string;
}

/** The doubt beside a value: `± 129`, or both ends if they are not equally far, such as `0–407` after a 42. */
export function around(value: number, interval: Interval, unit: Writing): string {
  const [low, high] = interval;
  if (low === high) return 'exact';
  if (!Number.isFinite(high)) return low > 0 ? intervalText(interval, unit) : 'error unknown';
  const [below, above] = [value - low, high - value];
  const isEven = Math.max(below, above) <= 1.1 * Math.min(below, above);
  return isEven ? `± ${unit.margin(Math.max(below, above))}` : intervalText(interval, unit);
}

/** Both ends of an interval, such as `420,602–420,860`. */
export function intervalText([low, high]: Interval, { text }: Pick<Writing, 'text'>): string {
  return Number.isFinite(high) ? `${text(low)}–${text(high)}` : `${text(low)} or more`;
}

/** A value with its interval in words, for people who cannot see the drawing. */
export function spread(
  value: number,
  interval: Interval | undefined,
  { text }: Pick<Writing, 'text'>,
): string {
  if (interval === undefined || interval[0] === interval[1]) return text(value);
  const [low, high] = interval;
  const ends = Number.isFinite(high) ? `${text(low)} to ${text(high)}` : `${text(low)} or more`;
  return `${text(value)}, 95 percent interval ${ends}`;
}

const STEPS = [
  [86_400_000, 'd'],
  [3600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** A time span in its largest unit, such as `5 min`. */
export function duration(ms: number): string {
  const [size, unit] = STEPS.find(([size]) => ms >= size) ?? STEPS.at(-1)!;
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}

/** A time span in its two largest units, such as `1 min 12 s`. */
export function longDuration(ms: number): string {
  const i = Math.max(
    0,
    STEPS.findIndex(([size]) => ms >= size),
  );
  const [size] = STEPS[i]!;
  const rest = STEPS[i + 1];
  const more = rest && Math.floor((ms % size) / rest[0]);
  return ms < 1000 || !more ? duration(ms) : `${duration(ms)} ${more} ${rest![1]}`;
}

/** Such as `5 min ago`, or the day if it is more than a week ago. */
export function ago(time: string | Date, now = Date.now()): string {
  const ms = now - new Date(time).getTime();
  return ms > 7 * 86_400_000 ? day(time) : ms < 5000 ? 'just now' : `${duration(ms)} ago`;
}

/** An interval of days for people: the last day is included. */
export function dateRange(start: string, end: string): string {
  const last = new Date(new Date(end).getTime() - 1);
  const [first, final] = [day(start), day(last)];
  return first === final ? first : `${first} – ${final}`;
}
