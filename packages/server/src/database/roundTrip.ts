/**
 * Sends statements faster than the `pg` driver does. The driver describes a statement each time it is used, builds each row
 * in a loop over its columns, and waits for each statement's result. This file describes a statement once per connection,
 * compiles a function that builds the rows, and sends several statements in one round trip.
 */
import pg from 'pg';
import { openStatements, telemetry } from '../telemetry.ts';

/** A statement. It is prepared under its name, once per connection. */
export interface Statement<R = Row> {
  name: string;
  text: string;
  /** Converts each row to a value. By default, the value is an object with one member per column. */
  reader?: Reader<R> | undefined;
  /** Whether the statement may be sent together with other lookups from the same turn of the event loop. */
  isLookup?: boolean;
}

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

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

export interface Result {
  rows: unknown[];
  /** The server's command tag, such as `COMMIT` or `UPDATE 1`. */
  command: string;
}

export interface Query {
  statement: Statement<unknown>;
  values: unknown[];
  resolve(result: Result): void;
  reject(error: Error): void;
}

type Values = (string | null)[];
type RowReader = (values: Values) => unknown;
interface Column {
  name: string;
  dataTypeID: number;
}

/** The members of the driver's connection that we use. */
interface Connection {
  parsedStatements: Record<string, string>;
  /** Statements whose results have not arrived yet. */
  submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(what: { statement: string; values: unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  flush(): void;
  sync(): void;
}

/**
 * The driver's query, which handles the server's messages. The members are declared here, because the driver's types lack
 * them.
 */
interface DriverQuery {
  /** The name of the statement whose result comes next. The driver uses it to record that the statement is prepared. */
  name: string;
  text: string;
  _result: { _types: pg.CustomTypesConfig };
  /** The rows, which the driver passes to the query's callback. */
  _results: unknown;
  _canceledDueToError: unknown;
  prepare(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** Maps each connection to its row readers by statement name. The reader of a statement without columns is `noRows`. */
const readersOf = new WeakMap<Connection, Map<string, RowReader>>();
const noRows: RowReader = () => {
  throw new Error('A row of a statement without columns.');
};

/**
 * Statements that are sent together. If one statement fails, all of them fail, because the server skips the statements
 * after the failed one.
 */
class RoundTrip extends DriverQuery {
  private readonly queries: Query[];
  private readonly wireValues: unknown[][];
  private readonly eager: boolean;
  private readonly results: Result[] = [];
  private readers!: Map<string, RowReader>;
  private reader: RowReader | undefined;
  private readRows: unknown[] = [];

  constructor(queries: Query[], eager: boolean) {
    super('');
    // Convert all values before anything is sent. If a conversion threw later, a partially sent round trip would never end.
    this.wireValues = queries.map(({ values }) => values.map(inWireForm));
    this.queries = queries;
    this.eager = eager;
    this._results = this.results;
    this.expectNext();
  }

  override prepare(connection: Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    const readers = readersOf.get(connection) ?? new Map<string, RowReader>();
    readersOf.set(connection, readers);
    this.readers = readers;
    for (let i = 0; i < this.queries.length; i++) {
      const { statement } = this.queries[i]!;
      const { name, text } = statement;
      if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
        connection.parse(statement);
        submittedNamedStatements[name] = text;
      }
      connection.bind({ statement: name, values: this.wireValues[i]! });
      if (!readers.has(name)) connection.describe({ type: 'P' });
      connection.execute();
      if (this.eager) connection.flush();
    }
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    try {
      const { statement } = this.queries[this.results.length]!;
      this.reader = rowReader(fields, this._result._types, statement.reader);
      this.readers.set(this.name, this.reader);
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  handleDataRow({ fields }: { fields: Values }): void {
    if (this._canceledDueToError) return;
    try {
      this.reader ??= this.readers.get(this.name)!;
      this.readRows.push(this.reader(fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (!this.readers.has(this.name)) this.readers.set(this.name, noRows);
    this.results.push({ rows: this.readRows, command: text });
    this.readRows = [];
    this.reader = undefined;
    this.expectNext();
  }

  override handleError(error: Error, connection: Connection): void {
    // The server has prepared neither the failed statement nor any statement after it.
    for (const { statement } of this.queries.slice(this.results.length)) {
      delete connection.submittedNamedStatements[statement.name];
    }
    super.handleError(error, connection);
  }

  private expectNext(): void {
    const next = this.queries[this.results.length];
    if (next === undefined) return;
    this.name = next.statement.name;
    this.text = next.statement.text;
  }
}

/**
 * Sends statements together. With `eager`, the server sends each result immediately, so that we can read its rows while the
 * server works on the next statement. On a busy server, `eager` costs more time than it saves.
 */
export function sendTogether(on: pg.Pool | pg.ClientBase, queries: Query[], eager = false): void {
  const span = telemetry && openStatements(queries.map(({ statement }) => statement.name));
  const done = (error: Error | undefined, results: Result[]) => {
    span?.end({ failure: error ?? undefined });
    for (let i = 0; i < queries.length; i++) {
      if (error) queries[i]!.reject(error);
      else queries[i]!.resolve(results[i]!);
    }
  };
  try {
    on.query(new RoundTrip(queries, eager) as never, done as never);
  } catch (error) {
    done(error as Error, []);
  }
}

export function query<R>(
  on: pg.Pool | pg.ClientBase,
  statement: Statement<R>,
  values: unknown[],
): Promise<R[]> {
  return new Promise((resolve, reject) => {
    sendTogether(on, [{ statement, values, resolve: ({ rows }) => resolve(rows as R[]), reject }]);
  });
}

/**
 * Converts a parameter to the form in which it is sent. Arrays of byte strings are sent in binary, because the driver would
 * need two hexadecimal digits per byte.
 */
function inWireForm(value: unknown): unknown {
  if (typeof value === 'string') return value;
  const binary = Array.isArray(value) && value.some((item) => item instanceof Uint8Array);
  return binary ? byteaArray(value) : prepareValue(value);
}

const BYTEA = 17;

/**
 * Encodes byte strings in PostgreSQL's binary format for a one-dimensional array: a header, then each item's length and
 * bytes.
 */
function byteaArray(items: (Uint8Array | null | undefined)[]): Buffer {
  const lengths = items.map((item) => item?.length ?? -1);
  const header = [1, lengths.includes(-1) ? 1 : 0, BYTEA, items.length, 1];
  const size = 4 * (header.length + items.length) + lengths.reduce((sum, n) => sum + Math.max(n, 0), 0);
  const array = Buffer.allocUnsafe(size);
  let at = 0;
  for (const number of header) at = array.writeInt32BE(number, at);
  items.forEach((item, i) => {
    at = array.writeInt32BE(lengths[i]!, at);
    if (item) array.set(item, at);
    at += item?.length ?? 0;
  });
  return array;
}

/** Compiles a function that reads a row. Its object literal is faster than a loop over the column names. */
function rowReader(columns: Column[], types: pg.CustomTypesConfig, reader = plainRow(columns)): RowReader {
  const parsers = columns.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text'));
  const positions = new Map(columns.map(({ name }, i) => [name, i]));
  const positionOf = (column: string) => {
    const position = positions.get(column);
    if (position === undefined) throw new Error(`The statement selects no column ${column}.`);
    return position;
  };
  const source = reader.source({
    value: (column) => {
      const i = positionOf(column);
      return parsers[i] === AS_TEXT ? `v[${i}]` : `v[${i}] === null ? null : p[${i}](v[${i}])`;
    },
    isNull: (column) => `v[${positionOf(column)}] === null`,
  });
  return new Function('p', `return (v) => (${source});`)(parsers) as RowReader;
}

/** The driver's parser for text columns. It returns its input unchanged, so compiled readers do not call it. */
const AS_TEXT = pg.types.getTypeParser(pg.types.builtins.TEXT, 'text');

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

/** Returns a reader for a column's unchanged value. */
export function cell<T>(column: string): Reader<T> {
  return { source: (row) => row.value(column) };
}
