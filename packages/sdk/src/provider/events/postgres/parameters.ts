/** Quotes names and binds values in SQL. */
import type { AttributeType } from '../../../filters/types.ts';

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The SQL type for binding a value of each attribute type. Timestamps are compared without a zone, in UTC. */
const TYPES: Readonly<Record<AttributeType, string>> = {
  string: 'text',
  int: 'int8',
  uint: 'numeric',
  double: 'float8',
  bool: 'bool',
  timestamp: 'timestamp',
};

/** The maximum number of values that PostgreSQL's protocol allows in a statement. */
export const MAX_PARAMETERS = 65_535;

/** The values bound to one statement, all as text. */
export class Parameters {
  readonly values: (string | (string | null)[])[] = [];

  /** Binds a value and returns its placeholder with a cast to the type. */
  bind(value: string | bigint | number | (string | null)[], type: string): string {
    this.values.push(Array.isArray(value) ? value : String(value));
    return `$${this.values.length}::${type}`;
  }

  /** Binds a constant of a filter. Text is compared by its UTF-8 bytes, which gives the order of code points. */
  bindConstant(value: string | bigint | number | boolean, type: AttributeType): string {
    const text = type === 'timestamp' ? timeText(value as bigint) : String(value);
    const placeholder = this.bind(text, TYPES[type]);
    return type === 'string' ? `(${placeholder} COLLATE "C")` : placeholder;
  }
}

const MICROS_PER_MILLI = 1000n;

/** Writes a time, given in microseconds since 1970, in the format of PostgreSQL. */
export function timeText(micros: bigint): string {
  const rest = ((micros % MICROS_PER_MILLI) + MICROS_PER_MILLI) % MICROS_PER_MILLI;
  const time = new Date(Number((micros - rest) / MICROS_PER_MILLI));
  const year = time.getUTCFullYear();
  // PostgreSQL writes the year 0 as 1 BC, and the year -1 as 2 BC.
  const written = String(year > 0 ? year : 1 - year).padStart(4, '0');
  const withoutYear = time
    .toISOString()
    .replace(/^[+-]?\d+/, '')
    .replace('T', ' ')
    .replace('Z', '');
  return `${written}${withoutYear}${String(rest).padStart(3, '0')}+00${year > 0 ? '' : ' BC'}`;
}
