/** Formats numbers and times. */

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const DAY = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const DAY_AND_YEAR = new Intl.DateTimeFormat('en-US', {
  month: 'short',
  day: 'numeric',
  year: 'numeric',
  timeZone: 'UTC',
});

export const count = (value: number) => WHOLE.format(value);

/** Formats a share from 0 to 1 in percent, such as `26.2 %`. */
export const percent = (share: number, digits = 1) => `${(share * 100).toFixed(digits)} %`;

export function day(time: string | Date): string {
  const date = new Date(time);
  return (date.getUTCFullYear() === new Date().getUTCFullYear() ? DAY : DAY_AND_YEAR).format(date);
}

/** Formats a time in UTC, such as `Nov 18, 09:12 UTC`. */
export function moment(time: string | Date): string {
  return `${day(time)}, ${new Date(time).toISOString().slice(11, 16)} UTC`;
}

const LONG_DAY = new Intl.DateTimeFormat('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });

export const longDay = (time: string | Date) => LONG_DAY.format(new Date(time));

export function longMoment(time: string | Date): string {
  return `${longDay(time)}, ${new Date(time).toISOString().slice(11, 16)} UTC`;
}

/** Formats a number with its noun, such as `1 publisher` or `3 publishers`. */
export const counted = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Formats a share in percentage points, such as `0.8`. A small share has one significant digit, such as `0.02`. */
export function points(share: number): string {
  const value = share * 100;
  return value === 0 || value >= 0.1 ? value.toFixed(1) : String(Number(value.toPrecision(1)));
}

/** A 95 % interval. The upper end is Infinity if it is unknown. */
export type Interval = readonly [low: number, high: number];

interface Writing {
  text(value: number): string;
  margin(value: number): string;
}

/**
 * Formats the error of a value, such as `± 129`. The error is the distance to the farther end of the interval. If this
 * distance is more than 1.5 times the distance to the nearer end, formats both ends instead, such as `0–407`.
 */
export function around(value: number, interval: Interval, unit: Writing): string {
  const [low, high] = interval;
  if (low === high) return 'exact';
  if (!Number.isFinite(high)) return low > 0 ? intervalText(interval, unit) : 'error unknown';
  const [below, above] = [value - low, high - value];
  const isEven = Math.max(below, above) <= 1.5 * Math.min(below, above);
  return isEven ? `± ${unit.margin(Math.max(below, above))}` : intervalText(interval, unit);
}

/** Formats both ends of an interval, such as `420,602–420,860`. */
export function intervalText([low, high]: Interval, { text }: Pick<Writing, 'text'>): string {
  return Number.isFinite(high) ? `${text(low)}–${text(high)}` : `${text(low)} or more`;
}

/** Describes a value and its interval, for people who cannot see the drawing. */
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

/** Formats a duration in its largest unit, such as `5 min`. */
export function duration(ms: number): string {
  const [size, unit] = STEPS.find(([size]) => ms >= size) ?? STEPS.at(-1)!;
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}

/** Formats a duration in its two largest units, such as `1 min 12 s`. */
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

/** Formats a time as `5 min ago`, or as a day if it is more than a week ago. */
export function ago(time: string | Date, now = Date.now()): string {
  const ms = now - new Date(time).getTime();
  return ms > 7 * 86_400_000 ? day(time) : ms < 5000 ? 'just now' : `${duration(ms)} ago`;
}

/**
 * Formats an interval as a range of days. `end` is not part of the interval, so an end at midnight belongs to the day
 * before.
 */
export const dateRange = (start: string, end: string) => fromTo(start, new Date(Date.parse(end) - 1));

/** Formats a range of days, such as `Oct 1 – 28`, `Sep 7 – Nov 1` or `Oct 1 – 28, 2025`. */
export function fromTo(first: string | Date, last: string | Date): string {
  const [start, end] = [new Date(first), new Date(last)];
  if (DAY_AND_YEAR.format(start) === DAY_AND_YEAR.format(end)) return day(end);
  if (start.getUTCFullYear() !== end.getUTCFullYear()) {
    return `${DAY_AND_YEAR.format(start)} – ${DAY_AND_YEAR.format(end)}`;
  }
  const isOneMonth = start.getUTCMonth() === end.getUTCMonth();
  return `${DAY.format(start)} – ${isOneMonth ? day(end).replace(/^\D+/, '') : day(end)}`;
}

const SYMBOLS = { epsilon: 'ε', delta: 'δ', rho: 'ρ' } as const;

/** Formats privacy parameters, such as `ε 0.1, δ 10⁻⁹`. A parameter of 0 is left out. */
export function privacyText(params: Partial<Record<keyof typeof SYMBOLS, number>>): string {
  const parts = (['epsilon', 'delta', 'rho'] as const).flatMap((each) =>
    params[each] ? `${SYMBOLS[each]}\u00a0${small(params[each])}` : [],
  );
  return parts.join(', ');
}

/** Formats a number, such as `0.1`. Uses a power of ten for a very small number, such as `10⁻⁹`. */
function small(value: number): string {
  const [digits, power] = value.toExponential(2).split('e');
  if (Number(power) > -4) return String(Number(value.toPrecision(4)));
  const raised = [...power!].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '⁻').join('');
  return Number(digits) === 1 ? `10${raised}` : `${Number(digits)} · 10${raised}`;
}
