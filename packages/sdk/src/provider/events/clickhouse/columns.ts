/** Maps the columns of a table to their roles, and writes an SQL expression for each column. */
import type { AttributeType } from '../../../filters/types.ts';
import { MAX_ROW_COUNT, mismatch, type RoleNames, rolesOf, sourceColumns } from '../columns.ts';
import type { SourceColumn } from '../source.ts';
import { quoteName, quoteText } from './parameters.ts';
import { type Times, timesOf } from './times.ts';
import { attributeSql, attributeTypeOf, type Column, isA, isInteger } from './types.ts';

export interface Columns {
  roles: SourceColumn[];
  /** SQL expression for each VID column. Its value is a signed 64-bit integer, or NULL. */
  vids: Map<string, string>;
  /** SQL expression for the event group reference, as text. */
  eventGroup: string;
  times: Times;
  /** SQL expression for the whole milliseconds watched in one row. Its value is never NULL or negative. */
  durationMillis: string | undefined;
  /** SQL expression for the number of events in a row. Undefined if each row is one event. */
  count: string | undefined;
  attributes: Map<string, Attribute>;
}

export interface Attribute {
  type: AttributeType;
  /**
   * SQL expression for the value, which is NULL if the attribute is absent. A timestamp is in microseconds since 1970.
   */
  sql: string;
}

/** Maps the name of a column that is not nullable to the value that represents an absent attribute in this column. */
export type AbsentValues = Readonly<Record<string, string | number | boolean>>;

export function columnsOf(names: RoleNames, columns: readonly Column[], absent: AbsentValues): Columns {
  const roles = rolesOf(names, columns);
  const { vids, timestamp, eventGroup, duration, count } = roles;
  const unknown = Object.keys(absent).find((name) => !columns.some((column) => column.name === name));
  if (unknown !== undefined) throw new Error(`events.source.absent: the table has no column ${unknown}.`);
  return {
    roles: sourceColumns(roles, ({ type }) => type.nullable),
    vids: new Map(vids.map((column) => [column.name, vidSql(column)])),
    eventGroup: eventGroupSql(eventGroup),
    times: timesOf(timestamp, names.timestampUnit),
    durationMillis: duration && durationSql(duration),
    count: count && countSql(count),
    attributes: attributesOf(roles.candidates, roles.asked, absent),
  };
}

/**
 * Returns the SQL for a VID. A VID outside the signed 64-bit range makes the statement fail, because it would otherwise
 * wrap around to another person's VID.
 */
function vidSql(column: Column): string {
  if (!isInteger(column)) throw mismatch('vid', column, 'an integer column of at most 64 bits');
  const { base, nullable } = column.type;
  const name = quoteName(column.name);
  if (base === 'Int64') return name;
  if (base !== 'UInt64') return `toInt64(${name})`;
  return `accurateCast(${name}, '${nullable ? 'Nullable(Int64)' : 'Int64'}')`;
}

function eventGroupSql(column: Column): string {
  const name = quoteName(column.name);
  if (!isA(column, 'string', 'int', 'uint')) throw mismatch('eventGroup', column, 'text');
  return column.type.base === 'String' ? name : `toString(${name})`;
}

/** Returns the SQL for a duration. It rounds half up explicitly, because the server's `round` rounds half to even. */
function durationSql(column: Column): string {
  if (!isA(column, 'int', 'uint', 'double')) throw mismatch('duration', column, 'a number of seconds');
  const seconds = `ifNull(toFloat64(${quoteName(column.name)}), 0)`;
  const millis = `least(greatest(if(isNaN(${seconds}), 0, ${seconds} * 1000), 0), toFloat64(9007199254740992))`;
  return `toInt64(if(${millis} - floor(${millis}) >= 0.5, ceil(${millis}), floor(${millis})))`;
}

function countSql(column: Column): string {
  if (!isInteger(column)) throw mismatch('count', column, 'an integer column');
  return `toInt64(least(greatest(ifNull(${quoteName(column.name)}, 0), 0), ${MAX_ROW_COUNT}))`;
}

function attributesOf(
  columns: readonly Column[],
  asked: Map<string, AttributeType | undefined> | undefined,
  absent: AbsentValues,
): Map<string, Attribute> {
  const attributes = new Map<string, Attribute>();
  for (const column of columns) {
    const { name } = column;
    const type = attributeTypeOf(column.type);
    const wanted = asked?.get(name);
    if (asked?.has(name) && (type === undefined || type !== (wanted ?? type))) {
      throw mismatch('attributes', column, wanted ?? 'text, a boolean, a number, a date or a time');
    }
    if (type === undefined) continue;
    const present = Object.hasOwn(absent, name)
      ? `nullIf(${quoteName(name)}, ${literal(absent[name]!)})`
      : quoteName(name);
    attributes.set(name, { type, sql: attributeSql(present, column.type) });
  }
  return attributes;
}

const literal = (value: string | number | boolean) =>
  typeof value === 'string' ? quoteText(value) : String(value);
