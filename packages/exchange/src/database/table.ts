/**
 * Maps a record's fields to a table's columns. Select lists, row readers, and the columns and parameters of writes are
 * generated from this map when a module is loaded.
 */
import type { Reader, RowSource } from '@measurement-exchange/server/database';

interface Type {
  sql: string;
  /**
   * Takes JavaScript source that reads a cell. Returns JavaScript source that converts the cell to the record's value.
   */
  read?: (cell: string) => string;
  write?: (value: unknown) => unknown;
}
const TYPES = {
  text: { sql: 'text' },
  texts: { sql: 'text[]' },
  int: { sql: 'int' },
  bool: { sql: 'boolean' },
  bytes: { sql: 'bytea' },
  time: { sql: 'timestamptz' },
  double: { sql: 'float8' },
  json: { sql: 'jsonb', write: (value: unknown) => JSON.stringify(value) },
  /**
   * JSON in a text column, for values that SQL does not query. PostgreSQL can tell the length of a long text without
   * reading the text. The length of a jsonb value is known only after reading the whole value.
   */
  jsonText: {
    sql: 'text',
    read: (cell: string) => `JSON.parse(${cell})`,
    write: (value: unknown) => JSON.stringify(value),
  },
  /** An unsigned 64-bit integer, stored as the signed integer with the same bits. */
  uint64: {
    sql: 'bigint',
    read: (cell: string) => `BigInt.asUintN(64, ${cell})`,
    write: (value: unknown) => BigInt.asIntN(64, value as bigint),
  },
} satisfies Record<string, Type>;
type TypeName = keyof typeof TYPES;

export interface Field<T> {
  readonly stores?: (value: T) => T;
}
export type Fields<R> = { [K in keyof R]-?: Field<R[K]> };

interface ColumnField {
  column: string;
  type: TypeName;
  isOptional: boolean;
  isLong: boolean;
}
interface GroupField {
  fields: Record<string, AnyField>;
  present: string | undefined;
}
type AnyField = ColumnField | GroupField;

export function column<T extends {}>(name: string, type: TypeName = 'text'): Field<T> {
  return { column: name, type, isOptional: false, isLong: false } as Field<T>;
}

/** A column that may be null. Null becomes undefined in the record. */
export function optional<T extends {}>(name: string, type: TypeName = 'text'): Field<T | undefined> {
  return { column: name, type, isOptional: true, isLong: false } as Field<T | undefined>;
}

/** A column for bytes of any length. Some statements do not select the column, because its values may be long. */
export function long(name: string): Field<Uint8Array> {
  return { column: name, type: 'bytes', isOptional: false, isLong: true } as Field<Uint8Array>;
}

export function group<T extends object>(fields: NoInfer<Fields<T>>): Field<T> {
  return { fields, present: undefined } as Field<T>;
}

/** Several columns that form one object. `present` names a column. If this column is null, the object is undefined. */
export function optionalGroup<T extends object>(
  present: string,
  fields: NoInfer<Fields<T>>,
): Field<T | undefined> {
  return { fields, present } as Field<T | undefined>;
}

export interface Column<R> {
  name: string;
  sqlType: string;
  isLong: boolean;
  field: keyof R;
  valueOf(record: R): unknown;
}

export interface Table<R> {
  name: string;
  columns: Column<R>[];
  reader(prefix?: string): Reader<R>;
}

export function table<R>(name: string, fields: Fields<R>): Table<R> {
  const all = fields as unknown as Record<string, AnyField>;
  const columns = Object.keys(all).flatMap((field) => columnsOf(field, all[field]!, [field]));
  return {
    name,
    columns: columns as unknown as Column<R>[],
    reader: (prefix = '') => ({
      source: (row) =>
        objectSource(all, {
          value: (column) => row.value(prefix + column),
          isNull: (column) => row.isNull(prefix + column),
        }),
    }),
  };
}

/**
 * For each column type that PostgreSQL formats differently in JSON than in a row, a function that generates JavaScript
 * source. The source converts a cell from the JSON format to the row format. Times are in UTC.
 */
const FROM_JSON: Record<string, (cell: string) => string> = {
  bytea: (cell) => `Buffer.from(${cell}.slice(2), 'hex')`,
  timestamptz: (cell) => `(${cell}.slice(0, -6) + (${cell}.length === 25 ? '.' : '')).padEnd(26, '0') + 'Z'`,
};

export function jsonReader<R>(of: Table<R>): (row: object) => R {
  const types = new Map(of.columns.map(({ name, sqlType }) => [name, sqlType]));
  const isNull = (column: string) => `row[${JSON.stringify(column)}] === null`;
  const value = (column: string) => {
    const cell = `row[${JSON.stringify(column)}]`;
    const read = FROM_JSON[types.get(column)!];
    return read === undefined ? cell : `${isNull(column)} ? null : ${read(cell)}`;
  };
  return new Function('row', `return ${of.reader().source({ value, isNull })};`) as (row: object) => R;
}

function columnsOf(field: string, stored: AnyField, path: string[]): Column<Record<string, unknown>>[] {
  if ('fields' in stored) {
    return Object.keys(stored.fields).flatMap((key) => columnsOf(field, stored.fields[key]!, [...path, key]));
  }
  const { sql, write }: Type = TYPES[stored.type];
  const source = `record${path.map((key) => `?.[${JSON.stringify(key)}]`).join('')}`;
  const valueAt = new Function('record', `return ${source};`) as (record: unknown) => unknown;
  const written = (record: unknown) => {
    const value = valueAt(record);
    return value === undefined ? undefined : write!(value);
  };
  return [
    {
      name: stored.column,
      sqlType: sql,
      isLong: stored.isLong,
      field,
      valueOf: write === undefined ? valueAt : written,
    },
  ];
}

function objectSource(fields: Record<string, AnyField>, row: RowSource): string {
  const members = Object.keys(fields).map(
    (key) => `${JSON.stringify(key)}: ${fieldSource(fields[key]!, row)}`,
  );
  return `{ ${members.join(', ')} }`;
}

function fieldSource(field: AnyField, row: RowSource): string {
  if ('fields' in field) {
    const object = objectSource(field.fields, row);
    return field.present === undefined ? object : `${row.isNull(field.present)} ? undefined : ${object}`;
  }
  const { read }: Type = TYPES[field.type];
  const value = row.value(field.column);
  if (!field.isOptional) return read?.(value) ?? value;
  return read ? `${row.isNull(field.column)} ? undefined : ${read(value)}` : `(${value}) ?? undefined`;
}

export function only<R, K extends keyof R>(of: Table<R>, ...fields: K[]): Column<Pick<R, K>>[] {
  return of.columns.filter(({ field }) => (fields as (keyof R)[]).includes(field)) as Column<unknown>[];
}

export function except<R, K extends keyof R>(of: Table<R>, ...fields: K[]): Column<Omit<R, K>>[] {
  return of.columns.filter(({ field }) => !(fields as (keyof R)[]).includes(field)) as Column<unknown>[];
}

/** Generates `m.id AS m_id, …`. `long` generates the SQL for a long column, for example null. */
export function select<R>(
  of: Table<R>,
  alias = of.name,
  prefix = '',
  long = (column: string) => column,
): string {
  return of.columns
    .map(({ name, isLong }) => {
      const qualified = `${alias}.${name}`;
      return `${isLong ? long(qualified) : qualified} AS ${prefix}${name}`;
    })
    .join(', ');
}

/** Generates `id, state, …`, or `n.id, n.state, …` with an alias. */
export function names(columns: Column<never>[], alias?: string): string {
  return columns.map(({ name }) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');
}

/** Generates `$3, $4, …`, one parameter per column. */
export function parameters(columns: unknown[], first: number): string {
  return columns.map((_, i) => `$${first + i}`).join(', ');
}

export function insertText<R>({ name, columns }: Table<R>, others: string[] = []): string {
  const all = [...columns.map((column) => column.name), ...others];
  return `INSERT INTO ${name} (${all.join(', ')}) VALUES (${parameters(all, 1)})`;
}

export function values<R>(columns: Column<R>[], record: R): unknown[] {
  return columns.map((column) => column.valueOf(record));
}

/** Generates `$3::text[], $4::int[], …`, one array per column. */
export function arrayParameters(columns: Column<never>[], first: number): string {
  return columns.map(({ sqlType }, i) => `$${first + i}::${sqlType}[]`).join(', ');
}

export function arrays<R>(columns: Column<R>[], records: R[]): unknown[][] {
  return columns.map((column) => records.map((record) => column.valueOf(record)));
}
