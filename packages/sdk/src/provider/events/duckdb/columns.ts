/**
 * Maps the columns of the event files to their roles, checks their types, and writes an SQL expression for each column.
 */
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBStructType,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  TIMESTAMP,
  TIMESTAMPTZ,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api';
import type { AttributeType } from '../../../filters/types.ts';
import {
  type ColumnNames,
  configuredAttributes,
  DEFAULT_COLUMNS,
  MAX_ROW_COUNT,
  mismatch,
  type RoleNames,
  rolesOf,
  sourceColumns,
  TICKS_PER_DAY,
  ticksAt,
  unitMissing,
  vidNames,
} from '../columns.ts';
import type { SourceColumn } from '../source.ts';
import { type Parameters, quoteName, quoteText } from './sql.ts';

export const DUCKDB_TYPES = {
  string: VARCHAR,
  int: BIGINT,
  uint: UBIGINT,
  double: DOUBLE,
  bool: BOOLEAN,
  timestamp: TIMESTAMP,
} as const satisfies Record<AttributeType, DuckDBType>;

export interface Column {
  name: string;
  type: DuckDBType;
}

export interface Columns {
  /** The columns that have a role, such as the VID or the timestamp. */
  roles: SourceColumn[];
  /** The SQL expression of each VID column, by its name. */
  vids: Map<string, string>;
  eventGroup: string;
  /**
   * Writes the SQL condition that selects the events in `[start, end)`. If possible, the condition does not cast the
   * column, so that DuckDB can skip parts of a file.
   */
  within(interval: { start: Date; end: Date }, parameters: Parameters): string;
  canHold(time: Date): boolean;
  /** SQL expression: the UTC day of an event, as a DATE. */
  day: string;
  /** SQL expression: the milliseconds watched in one row, as an integer that is never NULL or negative. */
  durationMillis: string | undefined;
  /** SQL expression: the number of events in a row, at most MAX_ROW_COUNT. Absent: each row is one event. */
  count: string | undefined;
  attributes: Map<string, Attribute>;
}

export interface Attribute {
  type: AttributeType;
  sql: string;
}

export function resolveColumns(names: RoleNames, columns: Column[]): Columns {
  const roles = rolesOf(names, columns);
  const { vids, timestamp, eventGroup, duration, count, candidates, asked } = roles;
  return {
    // Treat every column as nullable, because a file does not say which columns have no NULLs.
    roles: sourceColumns(roles, () => true),
    vids: new Map(vids.map((vid) => [vid.name, vidSql(vid)])),
    eventGroup: eventGroupSql(eventGroup),
    ...timeSql(timestamp, names.timestampUnit),
    day: daySql(timestamp, names.timestampUnit),
    durationMillis: duration && durationSql(duration),
    count: count && countSql(count),
    attributes: attributesOf(candidates, asked),
  };
}

/**
 * Returns the types for reading CSV columns. Types in `fixed` always apply. For example, event group references are
 * read as text, so that 007 and 7 stay different. Types in `unlessGuessed` apply if the engine cannot guess the type,
 * for example because of a single bad value.
 */
export function csvTypes(names: RoleNames) {
  const fixed = new Map<string, DuckDBType>([[names.eventGroup ?? DEFAULT_COLUMNS.eventGroup, VARCHAR]]);
  for (const [name, type] of configuredAttributes(names.attributes ?? []))
    if (type) fixed.set(name, DUCKDB_TYPES[type]);
  const unlessGuessed = new Map<string, DuckDBType>([
    ...vidNames(names).map((name) => [name, BIGINT] as const),
    ...(names.count === undefined ? [] : [[names.count, BIGINT] as const]),
    [names.timestamp ?? DEFAULT_COLUMNS.timestamp, names.timestampUnit ? BIGINT : TIMESTAMPTZ],
    [names.duration ?? DEFAULT_COLUMNS.duration, DOUBLE],
  ]);
  return { fixed, unlessGuessed };
}

/** The attribute type for each column type that filters can use, and the SQL type to cast to if a cast is needed. */
const ATTRIBUTES: Partial<Record<DuckDBTypeId, [type: AttributeType, castTo?: string]>> = {
  [DuckDBTypeId.VARCHAR]: ['string'],
  [DuckDBTypeId.ENUM]: ['string', 'VARCHAR'],
  [DuckDBTypeId.BOOLEAN]: ['bool'],
  [DuckDBTypeId.TINYINT]: ['int', 'BIGINT'],
  [DuckDBTypeId.SMALLINT]: ['int', 'BIGINT'],
  [DuckDBTypeId.INTEGER]: ['int', 'BIGINT'],
  [DuckDBTypeId.BIGINT]: ['int'],
  [DuckDBTypeId.UTINYINT]: ['int', 'BIGINT'],
  [DuckDBTypeId.USMALLINT]: ['int', 'BIGINT'],
  [DuckDBTypeId.UINTEGER]: ['int', 'BIGINT'],
  [DuckDBTypeId.UBIGINT]: ['uint'],
  [DuckDBTypeId.DOUBLE]: ['double'],
  [DuckDBTypeId.FLOAT]: ['double', 'DOUBLE'],
  [DuckDBTypeId.DECIMAL]: ['double', 'DOUBLE'],
  [DuckDBTypeId.TIMESTAMP]: ['timestamp'],
  [DuckDBTypeId.TIMESTAMP_TZ]: ['timestamp', 'TIMESTAMP'],
  [DuckDBTypeId.DATE]: ['timestamp', 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_S]: ['timestamp', 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_MS]: ['timestamp', 'TIMESTAMP'],
  [DuckDBTypeId.TIMESTAMP_NS]: ['timestamp', 'TIMESTAMP'],
};
const isA = ({ type }: Column, ...types: AttributeType[]) =>
  types.includes(ATTRIBUTES[type.typeId]?.[0] as AttributeType);
const isInteger = (column: Column) => isA(column, 'int', 'uint');
const cast = (name: string, type: string) => `CAST(${name} AS ${type})`;

/**
 * Casts the VID to a signed 64-bit integer. If a VID is too large, the scan fails, so that no two people get the same
 * VID.
 */
function vidSql(column: Column): string {
  if (!isInteger(column)) throw mismatch('vid', column, 'an integer column of at most 64 bits');
  const name = quoteName(column.name);
  return column.type.typeId === DuckDBTypeId.BIGINT ? name : cast(name, 'BIGINT');
}

function eventGroupSql(column: Column): string {
  const name = quoteName(column.name);
  if (!isA(column, 'string', 'int', 'uint')) throw mismatch('eventGroup', column, 'text');
  return column.type.typeId === DuckDBTypeId.VARCHAR ? name : cast(name, 'VARCHAR');
}

function timeSql(column: Column, unit: ColumnNames['timestampUnit']): Pick<Columns, 'within' | 'canHold'> {
  const name = quoteName(column.name);
  const between = (expression: string, bind: (at: Date, parameters: Parameters) => string) => {
    const within: Columns['within'] = ({ start, end }, parameters) =>
      `${expression} >= ${bind(start, parameters)} AND ${expression} < ${bind(end, parameters)}`;
    return { within, canHold: () => true };
  };
  const micros = (at: Date) => BigInt(at.getTime()) * 1000n;
  const naive = (at: Date, parameters: Parameters) =>
    parameters.bind(new DuckDBTimestampValue(micros(at)), TIMESTAMP);
  const { typeId } = column.type;
  if (typeId === DuckDBTypeId.TIMESTAMP) return between(name, naive);
  if (typeId === DuckDBTypeId.TIMESTAMP_TZ) {
    return between(name, (at, parameters) =>
      parameters.bind(new DuckDBTimestampTZValue(micros(at)), TIMESTAMPTZ),
    );
  }
  if (isA(column, 'timestamp')) return between(cast(name, 'TIMESTAMP'), naive);
  if (!isInteger(column)) throw mismatch('timestamp', column, 'TIMESTAMP, TIMESTAMPTZ, DATE or an integer');
  if (unit === undefined) throw unitMissing(column);
  const ticks = (at: Date, parameters: Parameters) => parameters.bind(ticksAt(at, unit), BIGINT);
  const { within } = between(cast(name, 'BIGINT'), ticks);
  return { within, canHold: (time) => BigInt.asIntN(64, ticksAt(time, unit)) === ticksAt(time, unit) };
}

function daySql(column: Column, unit: ColumnNames['timestampUnit']): string {
  const name = quoteName(column.name);
  if (!isInteger(column)) return cast(cast(name, 'TIMESTAMP'), 'DATE');
  // `timeSql` has already checked that `unit` is set.
  const [ticks, perDay] = [cast(name, 'BIGINT'), TICKS_PER_DAY[unit!]];
  // `//` rounds toward zero, so subtract one day from a time before 1970 that is not the start of a day.
  const days = `${ticks} // ${perDay} - CASE WHEN ${ticks} % ${perDay} < 0 THEN 1 ELSE 0 END`;
  // A day beyond the calendar, such as that of a placeholder, is NULL.
  return `CASE WHEN ${days} BETWEEN -700000 AND 2900000 THEN DATE '1970-01-01' + ${cast(days, 'INTEGER')} END`;
}

/**
 * Writes the SQL expression for a duration in whole milliseconds. Integers make a person's sum independent of the order
 * of addition. A missing, negative, or NaN duration counts as 0. A duration above 2^53 ms counts as 2^53 ms, which is
 * above any limit per person.
 */
function durationSql(column: Column): string {
  const name = quoteName(column.name);
  const clamp = (millis: string) =>
    `CAST(round(least(greatest(coalesce(${millis}, 0), 0), 9007199254740992)) AS BIGINT)`;
  if (column.type.typeId === DuckDBTypeId.INTERVAL) return clamp(`epoch_ms(${name})`);
  if (!isA(column, 'int', 'uint', 'double')) {
    throw mismatch('duration', column, 'a number of seconds or an INTERVAL');
  }
  const seconds = cast(name, 'DOUBLE');
  return clamp(`CASE WHEN isnan(${seconds}) THEN 0 ELSE ${seconds} * 1000 END`);
}

function countSql(column: Column): string {
  if (!isInteger(column)) throw mismatch('count', column, 'an integer column');
  const name = quoteName(column.name);
  // Do not use `least`, because it ignores NULL and would turn a missing count into MAX_ROW_COUNT.
  return cast(`CASE WHEN ${name} > ${MAX_ROW_COUNT} THEN ${MAX_ROW_COUNT} ELSE ${name} END`, 'BIGINT');
}

function attributesOf(
  columns: Column[],
  asked: Map<string, AttributeType | undefined> | undefined,
): Map<string, Attribute> {
  const attributes = new Map<string, Attribute>();
  const add = (name: string, sql: string, type: DuckDBType) => {
    if (type.typeId === DuckDBTypeId.STRUCT) {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      for (const [i, entry] of entryNames.entries()) {
        add(`${name}.${entry}`, `struct_extract(${sql}, ${quoteText(entry)})`, entryTypes[i]!);
      }
      return;
    }
    const attribute = attributeOf(sql, type);
    const wanted = asked?.get(name);
    if (asked?.has(name) && (attribute === undefined || attribute.type !== (wanted ?? attribute.type))) {
      throw mismatch('attributes', { name, type }, wanted ?? 'text, a boolean, a number, a date or a time');
    }
    if (attribute !== undefined && !attributes.has(name)) attributes.set(name, attribute);
  };
  // Add plain columns first, so that a column named "ad.format" takes precedence over `format` in a struct `ad`.
  const isStruct = ({ type }: Column) => type.typeId === DuckDBTypeId.STRUCT;
  for (const { name, type } of columns.toSorted((a, b) => Number(isStruct(a)) - Number(isStruct(b)))) {
    add(name, quoteName(name), type);
  }
  return attributes;
}

function attributeOf(sql: string, { typeId }: DuckDBType): Attribute | undefined {
  const [type, castTo] = ATTRIBUTES[typeId] ?? [];
  return type && { type, sql: castTo === undefined ? sql : cast(sql, castTo) };
}
