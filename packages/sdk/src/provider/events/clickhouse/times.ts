/** Writes SQL for the timestamp column. Conditions use the column's own type, so that the server can use its index. */
import { mismatch, TICKS_PER_DAY, ticksAt, unitMissing } from '../columns.ts';
import type { SourceSelection } from '../source.ts';
import { type Parameters, quoteName } from './parameters.ts';
import { type Column, isInteger, precisionOf } from './types.ts';

type Unit = keyof typeof TICKS_PER_DAY;

export interface Times {
  /** Writes the SQL condition that selects the events in the interval. */
  within(interval: SourceSelection['interval'], parameters: Parameters): string;
  /** SQL expression: the UTC day of an event, as a date. */
  day: string;
  canHold(time: Date): boolean;
}

/** The range of a time column, counted in ticks of `unit`. `value` converts ticks to the column's type in SQL. */
interface Ticks {
  unit: Unit | 'day';
  first: bigint;
  last: bigint;
  value(placeholder: string): string;
}

const EPOCH = "toDate32('1970-01-01')";

export function timesOf(column: Column, unit: Unit | undefined): Times {
  const name = quoteName(column.name);
  const { base } = column.type;
  if (isInteger(column)) return integerTimes(column, name, unit);
  if (base === 'Date' || base === 'Date32') {
    const [first, last] = base === 'Date' ? [0n, 65_535n] : [-25_567n, 120_529n];
    const epoch = base === 'Date' ? "toDate('1970-01-01')" : EPOCH;
    return timesWith(name, name, { unit: 'day', first, last, value: (n) => `addDays(${epoch}, ${n})` });
  }
  if (base === 'DateTime') {
    const value = (n: string) => `toDateTime(${n}, 'UTC')`;
    return timesWith(name, `toDate(${name}, 'UTC')`, { unit: 's', first: 0n, last: 4_294_967_295n, value });
  }
  if (base === 'DateTime64')
    return timesWith(name, `toDate32(${name}, 'UTC')`, preciseTicks(precisionOf(column.type)));
  throw mismatch('timestamp', column, 'a date, a time, or an integer');
}

const FIRST_MS = BigInt(Date.UTC(1900, 0, 1));
const LAST_MS = BigInt(Date.UTC(2300, 0, 1)) - 1n;
/** The last time of a DateTime64 with more than 6 decimal places, in nanoseconds since 1970: the largest Int64. */
const LAST_NS = 9_223_372_036_854_775_807n;

function preciseTicks(precision: number): Ticks {
  if (precision <= 3) return ticksIn('ms', 1n, 'Milli', LAST_MS);
  if (precision <= 6) return ticksIn('us', 1000n, 'Micro', LAST_MS * 1000n + 999n);
  return ticksIn('ns', 1_000_000n, 'Nano', LAST_NS);
}

const ticksIn = (unit: Unit, perMs: bigint, name: string, last: bigint): Ticks => ({
  unit,
  first: FIRST_MS * perMs,
  last,
  value: (n) => `fromUnixTimestamp64${name}(${n}, 'UTC')`,
});

function timesWith(name: string, day: string, { unit, first, last, value }: Ticks): Times {
  const ticks = (time: Date) => (unit === 'day' ? daysAt(time) : ticksAt(time, unit));
  return {
    day,
    canHold: () => true,
    // A bound outside of the column's range excludes either all events or none.
    within({ start, end }, parameters) {
      const [from, to] = [ticks(start), ticks(end)];
      if (from > last || to <= first) return 'false';
      const lower = from <= first ? [] : [`${name} >= ${value(parameters.int64(from))}`];
      const upper = to > last ? [] : [`${name} < ${value(parameters.int64(to))}`];
      return [...lower, ...upper].join(' AND ') || `${name} IS NOT NULL`;
    },
  };
}

const DAY_MS = 86_400_000;
const daysAt = (time: Date) => BigInt(Math.ceil(time.getTime() / DAY_MS));

function integerTimes(column: Column, name: string, unit: Unit | undefined): Times {
  if (unit === undefined) throw unitMissing(column);
  const fits = (ticks: bigint) => BigInt.asIntN(64, ticks) === ticks;
  const count = `toInt64(${name})`;
  const perDay = TICKS_PER_DAY[unit];
  return {
    day: `addDays(${EPOCH}, toInt32(intDiv(${count} - positiveModulo(${count}, ${perDay}), ${perDay})))`,
    canHold: (time) => fits(ticksAt(time, unit)),
    within: ({ start, end }, parameters) => {
      const bound = (time: Date) => parameters.int64(ticksAt(time, unit));
      return `${name} >= ${bound(start)} AND ${name} < ${bound(end)}`;
    },
  };
}
