/**
 * Compiles functions that convert rows to values. A compiled function uses an object literal, which is faster than a
 * loop over the column names.
 */
import pg from 'pg';

/** Generates JavaScript source code for an expression that converts a row to a T. */
export interface Reader<T> {
  source(row: RowSource): string;
  readonly reads?: T;
}

/** Generates source code for expressions that read a column of the current row. */
export interface RowSource {
  value(column: string): string;
  isNull(column: string): string;
}

/** The columns of a row. A bytea column arrives in binary if the Bind message requested it, and otherwise as text. */
export type Values = (string | Buffer | null)[];
export type RowReader = (values: Values) => unknown;
export interface Column {
  name: string;
  dataTypeID: number;
}

/** Compiles a function that reads a row. `isBinary` says for each column whether it arrives in binary. */
export function rowReader(
  columns: Column[],
  isBinary: boolean[],
  types: pg.CustomTypesConfig,
  reader: Reader<unknown> = plainRow(columns),
): RowReader {
  const parsers = columns.map(({ dataTypeID }, i) =>
    isBinary[i] ? AS_SENT : types.getTypeParser(dataTypeID, 'text'),
  );
  const positions = new Map(columns.map(({ name }, i) => [name, i]));
  const positionOf = (column: string) => {
    const position = positions.get(column);
    if (position === undefined) throw new Error(`The statement selects no column ${column}.`);
    return position;
  };
  const source = reader.source({
    value: (column) => {
      const i = positionOf(column);
      return parsers[i] === AS_SENT ? `v[${i}]` : `v[${i}] === null ? null : p[${i}](v[${i}])`;
    },
    isNull: (column) => `v[${positionOf(column)}] === null`,
  });
  return new Function('p', `return (v) => (${source});`)(parsers) as RowReader;
}

/** The driver's parser for text columns. It returns its input unchanged, so compiled readers do not call it. */
const AS_SENT = pg.types.getTypeParser(pg.types.builtins.TEXT, 'text');

function plainRow(columns: Column[]): Reader<unknown> {
  return object(Object.fromEntries(columns.map(({ name }) => [name, cell(name)])));
}

/** Returns a reader for an object, with one reader per member. */
export function object<T extends object>(members: { [K in keyof T]: Reader<T[K]> }): Reader<T> {
  const keys = Object.keys(members) as (keyof T & string)[];
  return {
    source: (row) =>
      `{ ${keys.map((key) => `${JSON.stringify(key)}: ${members[key].source(row)}`).join(', ')} }`,
  };
}

/** Returns a reader for a column's value, as the driver parses the value. NULL becomes null. */
export function cell<T>(column: string): Reader<T> {
  return { source: (row) => row.value(column) };
}

/** Returns a reader for a column that may be null. Null becomes undefined. */
export function optionalCell<T extends {}>(column: string): Reader<T | undefined> {
  return { source: (row) => `(${row.value(column)}) ?? undefined` };
}
