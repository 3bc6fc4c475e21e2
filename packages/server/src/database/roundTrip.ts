/**
 * Sends statements. The driver asks the server for the columns at every use, builds an object for each row in a loop over
 * their names, and waits for the result of each statement. Here a statement is described once for each connection, a
 * compiled reader makes the rows, and statements that are sent together are awaited together.
 */

import pg from 'pg';
import { openStatements, telemetry } from '../telemetry.ts';

/** Prepared once per connection under its name. */
export interface Statement<R = Row> {
  name: string;
  text: string;
  /** Makes a value of each row; by default an object with a member for each column. */
  reader?: Reader<R> | undefined;
  /** Whether it may wait for others of its turn of the event loop, and they for it. */
  isLookup?: boolean;
}

/** Prints the source of an expression that makes a T of a row. */
export interface Reader<T> {
  source(row: RowSource): string;
  readonly reads?: T;
}

/** The source of expressions about a column of the row at hand. */
export interface RowSource {
  value(column: string): string;
  isNull(column: string): string;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

export interface Result {
  rows: unknown[];
  /** The command tag of the server: `COMMIT`, `UPDATE 1`. */
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

/** The driver's connection, as far as it is used here. */
interface Connection {
  parsedStatements: Record<string, string>;
  /** Statements whose result has not arrived. */
  submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(what: { statement: string; values: unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  flush(): void;
  sync(): void;
}

/** The driver's own query, which handles the messages of the server; its types do not show that it can be extended. */
interface DriverQuery {
  /** The statement whose result comes next: the driver records whether it is prepared. */
  name: string;
  text: string;
  _result: { _types: pg.CustomTypesConfig };
  /** The value that the callback receives. */
  _results: unknown;
  _canceledDueToError: unknown;
  prepare(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** The readers of a connection by statement; `noRows` for a statement without columns. */
const readersOf = new WeakMap<Connection, Map<string, RowReader>>();
function readersFor(connection: Connection): Map<string, RowReader> {
  let readers = readersOf.get(connection);
  if (readers === undefined) {
    readers = new Map();
    readersOf.set(connection, readers);
  }
  return readers;
}

const noRows: RowReader = () => {
  throw new Error('A row of a statement without columns.');
};

/** Statements that are sent together. When one fails, all fail: the server skips those after it. */
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
    // Before anything is sent: a round trip that was sent in part would never end.
    this.wireValues = queries.map(({ values }) => values.map(inWireForm));
    this.queries = queries;
    this.eager = eager;
    this._results = this.results;
    this.expectNext();
  }

  override prepare(connection: Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    const readers = readersFor(connection);
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
    // The server skipped the statements after it, and did not prepare them either.
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
 * Sends statements together. `eager`: the server sends each result as soon as it has it, so that the rows are read while
 * it works on the next statement. On a busy server that costs more than it gains.
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

/** The rows of a statement. */
export function query<R>(
  on: pg.Pool | pg.ClientBase,
  statement: Statement<R>,
  values: unknown[],
): Promise<R[]> {
  return new Promise((resolve, reject) => {
    sendTogether(on, [{ statement, values, resolve: ({ rows }) => resolve(rows as R[]), reject }]);
  });
}

/** Arrays of bytes in binary: the driver would write two hexadecimal digits for each byte. */
function inWireForm(value: unknown): unknown {
  if (typeof value === 'string') return value;
  const binary = Array.isArray(value) && value.some((item) => item instanceof Uint8Array);
  return binary ? byteaArray(value) : prepareValue(value);
}

const BYTEA = 17;

/** As the server itself sends an array of one dimension in binary; an item is its length and its bytes. */
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

/** Compiled, because an object literal is made faster than an object in a loop over the names of its members. */
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

/** The driver's parser of what stays text. */
const AS_TEXT = pg.types.getTypeParser(pg.types.builtins.TEXT, 'text');

function plainRow(columns: Column[]): Reader<unknown> {
  return {
    source: (row) =>
      `{ ${columns.map(({ name }) => `${JSON.stringify(name)}: ${row.value(name)}`).join(', ')} }`,
  };
}

/** One object of several readers. */
export function object<T extends object>(members: { [K in keyof T]: Reader<T[K]> }): Reader<T> {
  const keys = Object.keys(members) as (keyof T & string)[];
  return {
    source: (row) =>
      `{ ${keys.map((key) => `${JSON.stringify(key)}: ${members[key].source(row)}`).join(', ')} }`,
  };
}

/** A column as it is. */
export function cell<T>(column: string): Reader<T> {
  return { source: (row) => row.value(column) };
}
