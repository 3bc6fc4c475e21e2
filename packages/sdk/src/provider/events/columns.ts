/** Maps the columns of the event files to their roles, checks their types, and writes an SQL expression for each column. */
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
import type { AttributeType } from '../../filters/types.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import { type Parameters, quoteName, quoteText } from './sql.ts';

/** The column names in the event files, if they differ from the defaults. */
export interface ColumnNames {
  /** The virtual person ID, an integer. Default `vid`. */
  vid?: string;
  /** The time of the event. Default `timestamp`. A time without a zone is UTC. */
  timestamp?: string;
  /** The unit of an integer `timestamp` column, which counts time since 1970. */
  timestampUnit?: 's' | 'ms' | 'us' | 'ns';
  /** The event group's reference, which the exchange calls `eventGroupReferenceId`. Default `event_group`. */
  eventGroup?: string;
  /** The seconds watched, as a number or an INTERVAL. Default `duration`, if there is such a column. */
  duration?: string;
  /**
   * The columns that filters may use, optionally with their types. Default: every other column of a supported type. In CSV
   * files, a type that is not given is guessed.
   */
  attributes?: string[] | Record<string, AttributeType | undefined>;
}

export const DEFAULT_COLUMNS = {
  vid: 'vid',
  timestamp: 'timestamp',
  eventGroup: 'event_group',
  duration: 'duration',
} as const;

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
  vid: string;
  eventGroup: string;
  /**
   * Writes the SQL condition that selects the events in `[start, end)`. It compares values of the column's own type, so
   * that DuckDB can skip parts of a file.
   */
  within(interval: { start: Date; end: Date }, parameters: Parameters): string;
  /** SQL expression: the UTC day of an event, as a DATE. */
  day: string;
  /** SQL expression: the whole milliseconds watched in one event, never NULL or negative. */
  durationMillis: string | undefined;
  attributes: Map<string, Attribute>;
}

export interface Attribute {
  type: AttributeType;
  sql: string;
}

export function resolveColumns(names: ColumnNames, columns: Column[]): Columns {
  const find = (role: keyof ColumnNames, name: string): Column => {
    const found = columns.find((column) => column.name === name);
    if (found !== undefined) return found;
    throw new Error(
      `columns.${role}: the events have no column ${quoteName(name)}. They have ${listOf(columns)}. Name the right one in the settings.`,
    );
  };
  const vid = find('vid', names.vid ?? DEFAULT_COLUMNS.vid);
  const timestamp = find('timestamp', names.timestamp ?? DEFAULT_COLUMNS.timestamp);
  const eventGroup = find('eventGroup', names.eventGroup ?? DEFAULT_COLUMNS.eventGroup);
  const duration =
    names.duration !== undefined
      ? find('duration', names.duration)
      : columns.find((column) => column.name === DEFAULT_COLUMNS.duration);
  const taken = new Set([vid, timestamp, eventGroup, duration]);
  const asked = names.attributes && new Map(configuredAttributes(names.attributes));
  const candidates = asked
    ? [...asked.keys()].map((name) => find('attributes', name))
    : columns.filter((column) => !taken.has(column));
  return {
    vid: vidSql(vid),
    eventGroup: eventGroupSql(eventGroup),
    within: timestampSql(timestamp, names.timestampUnit),
    day: daySql(timestamp, names.timestampUnit),
    durationMillis: duration && durationSql(duration),
    attributes: attributesOf(candidates, asked),
  };
}

/** Returns the configured attributes, each with its configured type if there is one. */
export function configuredAttributes(
  attributes: NonNullable<ColumnNames['attributes']>,
): [name: string, type: AttributeType | undefined][] {
  return Array.isArray(attributes) ? attributes.map((name) => [name, undefined]) : Object.entries(attributes);
}

/**
 * Returns the types for reading CSV columns. Types in `fixed` always apply. For example, event group references are text,
 * because 007 is not 7. Types in `unlessGuessed` apply if the engine cannot guess the type, for example because of a single
 * bad value.
 */
export function csvTypes(names: ColumnNames) {
  const fixed = new Map<string, DuckDBType>([[names.eventGroup ?? DEFAULT_COLUMNS.eventGroup, VARCHAR]]);
  for (const [name, type] of configuredAttributes(names.attributes ?? []))
    if (type) fixed.set(name, DUCKDB_TYPES[type]);
  const unlessGuessed = new Map<string, DuckDBType>([
    [names.vid ?? DEFAULT_COLUMNS.vid, BIGINT],
    [names.timestamp ?? DEFAULT_COLUMNS.timestamp, names.timestampUnit ? BIGINT : TIMESTAMPTZ],
    [names.duration ?? DEFAULT_COLUMNS.duration, DOUBLE],
  ]);
  return { fixed, unlessGuessed };
}

const listOf = (columns: Column[]) => columns.map((c) => `${quoteName(c.name)} (${c.type})`).join(', ');

function mismatch(role: keyof ColumnNames, column: Column, wanted: string): Error {
  return new Error(
    `columns.${role}: ${quoteName(column.name)} is ${column.type}, and must be ${wanted}: write it so, or name another column.`,
  );
}

/** The attribute type for each column type that filters may use, and the SQL type to cast to if a cast is needed. */
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
 * Casts the VID to a signed 64-bit integer. If a VID does not fit, the scan fails, so that no two people get the same VID.
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

const DAY_MS = 86_400_000n;
const TICKS_PER_DAY = { s: 86_400n, ms: DAY_MS, us: 1000n * DAY_MS, ns: 1_000_000n * DAY_MS };

function timestampSql(column: Column, unit: ColumnNames['timestampUnit']): Columns['within'] {
  const name = quoteName(column.name);
  const between = (expression: string, bind: (at: Date, parameters: Parameters) => string) => {
    const within: Columns['within'] = ({ start, end }, parameters) =>
      `${expression} >= ${bind(start, parameters)} AND ${expression} < ${bind(end, parameters)}`;
    return within;
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
  if (unit === undefined) {
    throw new Error(
      `columns.timestampUnit: ${quoteName(column.name)} is ${column.type}: set the unit it counts: s, ms, us or ns.`,
    );
  }
  // Round each bound up to a whole tick. The column has only integers, so this does not change the result of a comparison.
  const count = (at: Date) => {
    const ticks = ceilDivide(BigInt(at.getTime()) * TICKS_PER_DAY[unit], DAY_MS);
    if (BigInt.asIntN(64, ticks) === ticks) return ticks;
    throw new RefusalError('INTERVAL_INVALID', `The timestamp column cannot contain ${at.toISOString()}.`);
  };
  return between(cast(name, 'BIGINT'), (at, parameters) => parameters.bind(count(at), BIGINT));
}

function daySql(column: Column, unit: ColumnNames['timestampUnit']): string {
  const name = quoteName(column.name);
  if (!isInteger(column)) return cast(cast(name, 'TIMESTAMP'), 'DATE');
  // `timestampSql` has already checked that `unit` is set.
  return `DATE '1970-01-01' + ${cast(`${cast(name, 'BIGINT')} // ${TICKS_PER_DAY[unit!]}`, 'INTEGER')}`;
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return a / b + (a > 0n && a % b !== 0n ? 1n : 0n);
}

/**
 * Writes the SQL expression for a duration in whole milliseconds. Integers make a person's sum independent of the order of
 * addition. A missing, negative, or NaN duration counts as 0. A duration is at most 2^53 ms, which is above any limit per
 * person.
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
  // Add plain columns first, so that a column named "person.gender" takes precedence over `gender` in a struct `person`.
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
