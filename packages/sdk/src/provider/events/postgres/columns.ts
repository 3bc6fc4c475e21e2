/** Maps the columns of the table to their roles, checks their types, and writes an SQL expression for each role. */
import type { AttributeType } from '../../../filters/types.ts';
import {
  MAX_ROW_COUNT,
  mismatch,
  type RoleNames,
  rolesOf,
  sourceColumns,
  TICKS_PER_DAY,
  ticksAt,
  unitMissing,
} from '../columns.ts';
import type { SourceColumn } from '../source.ts';
import { isStorable } from './dialect.ts';
import { type Parameters, timeText } from './parameters.ts';
import { attributeSql, attributeTypeOf, columnSql, isInteger, type TableColumn, timeSql } from './types.ts';

export interface Columns {
  /** The columns with a role, in the order of `EventSource.columns`. */
  roles: SourceColumn[];
  vids: ReadonlyMap<string, string>;
  /** SQL expression: the event group reference as text. */
  reference: string;
  /** Writes the SQL condition that selects the events with these event group references. */
  references(references: string[], parameters: Parameters): string;
  within(interval: { start: Date; end: Date }, parameters: Parameters): string;
  canHold(time: Date): boolean;
  /** SQL expression: the UTC day of an event. */
  day: string;
  /** SQL expression: the milliseconds watched in one row, as an integer that is never NULL or negative. */
  durationMillis: string | undefined;
  /** SQL expression: the number of events of one row. Absent if each row is one event. */
  count: string | undefined;
  hasEvents: string | undefined;
  attributes: ReadonlyMap<string, { type: AttributeType; sql: string }>;
}

export function resolveColumns(names: RoleNames, columns: readonly TableColumn[]): Columns {
  const found = rolesOf(names, columns);
  const { vids, timestamp, eventGroup, duration, count } = found;
  for (const vid of vids)
    if (!isInteger(vid)) throw mismatch('vid', vid, 'an integer column of at most 64 bits');
  if (count && !isInteger(count)) throw mismatch('count', count, 'an integer column');
  return {
    roles: sourceColumns(found, ({ nullable }) => nullable),
    // Let the statement fail if a VID does not fit in a signed 64-bit integer. A truncated VID could equal another
    // person's VID.
    vids: new Map(vids.map((vid) => [vid.name, `${columnSql(vid)}::int8`])),
    ...referenceSql(eventGroup),
    ...timestampSql(timestamp, names.timestampUnit),
    durationMillis: duration && durationSql(duration),
    count: count && `least(${columnSql(count)}, ${MAX_ROW_COUNT})::int8`,
    hasEvents: count && `${columnSql(count)} >= 1`,
    attributes: attributesOf(found),
  };
}

function referenceSql(column: TableColumn): Pick<Columns, 'reference' | 'references'> {
  const name = columnSql(column);
  const reference = `(${name}::text COLLATE "C")`;
  if (isInteger(column)) {
    const isUnsigned = attributeTypeOf(column) === 'uint';
    const [type, fits] = isUnsigned ? (['numeric[]', isDecimal] as const) : (['int8[]', isSigned] as const);
    return {
      reference,
      references: (references, parameters) =>
        `${name} = ANY(${parameters.bind(references.filter(fits), type)})`,
    };
  }
  if (attributeTypeOf(column) !== 'string') throw mismatch('eventGroup', column, 'text');
  // Compare the column without a cast if possible, because PostgreSQL can then use an index on the column.
  const isPlain = column.isDeterministic && ['text', 'varchar'].includes(column.base);
  return {
    reference,
    references: (references, parameters) =>
      `${isPlain ? name : reference} = ANY(${parameters.bind(references.filter(isStorable), 'text[]')})`,
  };
}

/**
 * Whether the text is an integer in the form that PostgreSQL writes, without leading zeros. Any other text differs from
 * every value of an integer column.
 */
const isDecimal = (text: string) => /^(?:0|-?[1-9]\d{0,19})$/.test(text);
const isSigned = (text: string) => isDecimal(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

function timestampSql(
  column: TableColumn,
  unit: RoleNames['timestampUnit'],
): Pick<Columns, 'within' | 'canHold' | 'day'> {
  const name = columnSql(column);
  const between = (bind: (time: Date, parameters: Parameters) => string): Columns['within'] => {
    return ({ start, end }, parameters) =>
      `${name} >= ${bind(start, parameters)} AND ${name} < ${bind(end, parameters)}`;
  };
  if (attributeTypeOf(column) === 'timestamp') {
    const type = column.base === 'timestamptz' ? 'timestamptz' : 'timestamp';
    return {
      within: between((time, parameters) => parameters.bind(timeText(BigInt(time.getTime()) * 1000n), type)),
      canHold: (time) => time.getTime() >= FIRST_TIME,
      day: `${timeSql(column)}::date`,
    };
  }
  if (!isInteger(column)) throw mismatch('timestamp', column, 'timestamptz, timestamp, date or an integer');
  if (unit === undefined) throw unitMissing(column);
  const days = `floor(${name}::numeric / ${TICKS_PER_DAY[unit]})`;
  return {
    within: between((time, parameters) => parameters.bind(ticksAt(time, unit), 'int8')),
    canHold: (time) => BigInt.asIntN(64, ticksAt(time, unit)) === ticksAt(time, unit),
    day: `(CASE WHEN ${days} BETWEEN -1000000 AND 100000000 THEN DATE '1970-01-01' + ${days}::int4 END)`,
  };
}

/** The start of 4700 BC, which is safely after the earliest time that PostgreSQL can store (in 4714 BC). */
const FIRST_TIME = Date.UTC(-4699, 0, 1);

/** A duration of at least this many seconds counts as 2^53 milliseconds. */
const LONGEST_SECONDS = '9007199254740.992';
const LONGEST_MILLIS = '9007199254740992';

/** Writes the SQL for a duration in milliseconds, rounded half up. A missing, negative, or NaN duration counts as 0. */
function durationSql(column: TableColumn): string {
  const seconds = secondsSql(column);
  const millis = `(${seconds} * 1000)`;
  const rounded = `(floor(${millis}) + CASE WHEN ${millis} - floor(${millis}) >= 0.5 THEN 1 ELSE 0 END)::int8`;
  // PostgreSQL treats NaN as greater than all numbers.
  return `(CASE WHEN ${seconds} > 0 AND ${seconds} < ${LONGEST_SECONDS} THEN ${rounded}
    WHEN ${seconds} > 0 AND ${seconds} <> 'NaN' THEN ${LONGEST_MILLIS} ELSE 0 END)`;
}

function secondsSql(column: TableColumn): string {
  const name = columnSql(column);
  if (column.base === 'interval') return `extract(epoch FROM ${name})::float8`;
  // Limit a numeric value before the cast to float8, because the cast fails if the value is too large or too close to
  // zero.
  if (column.base === 'numeric') {
    return `round(least(greatest(nullif(${name}, 'NaN'), 0), 1e15), 300)::float8`;
  }
  if (!['int', 'double'].includes(attributeTypeOf(column)!)) {
    throw mismatch('duration', column, 'a number of seconds or an interval');
  }
  return `${name}::float8`;
}

function attributesOf({ candidates, asked }: ReturnType<typeof rolesOf<TableColumn>>): Columns['attributes'] {
  const attributes = new Map<string, { type: AttributeType; sql: string }>();
  for (const column of candidates) {
    const { name } = column;
    const type = attributeTypeOf(column);
    const wanted = asked?.get(name) ?? type;
    if (type !== undefined && type === wanted)
      attributes.set(name, { type, sql: attributeSql(column, type) });
    else if (asked?.has(name)) throw mismatch('attributes', column, asked.get(name) ?? ANY_ATTRIBUTE);
  }
  return attributes;
}

const ANY_ATTRIBUTE = 'text, a boolean, a number such as numeric(12,2), a date or a time';
