/**
 * Sends statements faster than the `pg` driver does. The driver describes a statement each time it is used, builds each
 * row in a loop over its columns, and waits for each statement's result. This file describes a statement once per
 * connection, compiles a function that builds the rows, receives bytes in binary, and sends several statements in one
 * round trip.
 */
import pg from 'pg';
import { openStatements, telemetry } from '../telemetry.ts';
import { bind, type Connection, type Described } from './client.ts';
import { type Column, type Reader, type RowReader, rowReader, type Values } from './rowReader.ts';

/** A statement. It is prepared under its name, once per connection. */
export interface Statement<R = Row> {
  name: string;
  text: string;
  /** Converts each row to a value. By default, the value is an object with one member per column. */
  reader?: Reader<R> | undefined;
  /** Whether the statement may be sent together with other lookups from the same turn of the event loop. */
  isLookup?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

export interface Result {
  rows: unknown[];
  /** PostgreSQL's command tag, such as `COMMIT` or `UPDATE 1`. */
  command: string;
}

export interface Query {
  statement: Statement<unknown>;
  values: unknown[];
  resolve(result: Result): void;
  reject(error: Error): void;
}

/**
 * The driver's query, which handles the server's messages. The members are declared here, because the driver's types
 * lack them.
 */
interface DriverQuery {
  /**
   * The name of the statement whose result comes next. The driver uses this name to record that the statement is
   * prepared.
   */
  name: string;
  text: string;
  _result: { _types: pg.CustomTypesConfig };
  /** The results of the statements, which the driver passes to the query's callback. */
  _results: unknown;
  _canceledDueToError: unknown;
  prepare(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** The description of a statement that returns no rows. */
const NO_ROWS: Described = {
  reader: () => {
    throw new Error('A row of a statement without columns.');
  },
  isBinary: undefined,
};

/**
 * Statements that are sent together. If one statement fails, all of them fail: PostgreSQL skips the statements after
 * the failed one, and rolls back the statements before it.
 */
class RoundTrip extends DriverQuery {
  private readonly queries: Query[];
  private readonly wireValues: unknown[][];
  private readonly eager: boolean;
  private readonly results: Result[] = [];
  /** The descriptions that were available when the statements were sent. */
  private readonly known: (Described | undefined)[] = [];
  private described!: Map<string, Described>;
  private reader: RowReader | undefined;
  /** For each column of the next rows, whether it arrives in binary. The client's parser reads this array. */
  isBinary: boolean[] | undefined;
  private readRows: unknown[] = [];

  constructor(queries: Query[], eager: boolean) {
    super('');
    // Convert all values before sending anything. A conversion that throws halfway would leave a round trip that never
    // ends.
    this.wireValues = queries.map(({ values }) => values.map(inWireForm));
    this.queries = queries;
    this.eager = eager;
    this._results = this.results;
    this.expectNext();
  }

  override prepare(connection: Connection): void {
    const { parsedStatements, submittedNamedStatements, described } = connection;
    this.described = described;
    for (let i = 0; i < this.queries.length; i++) {
      const { statement } = this.queries[i]!;
      const { name, text } = statement;
      if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
        connection.parse(statement);
        submittedNamedStatements[name] = text;
      }
      const known = described.get(name);
      this.known.push(known);
      bind(connection, name, this.wireValues[i]!, known?.isBinary);
      if (known === undefined) connection.describe({ type: 'P' });
      connection.execute();
      if (this.eager) connection.flush();
    }
    connection.sync();
    this.isBinary = this.known[0]?.isBinary;
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    try {
      const { reader } = this.queries[this.results.length]!.statement;
      const types = this._result._types;
      const isBinary = fields.map(({ dataTypeID }) => dataTypeID === BYTEA);
      // These rows arrive as text, because nothing was known about the columns when the statement was sent.
      this.reader = rowReader(
        fields,
        fields.map(() => false),
        types,
        reader,
      );
      this.described.set(
        this.name,
        isBinary.includes(true)
          ? { reader: rowReader(fields, isBinary, types, reader), isBinary }
          : { reader: this.reader, isBinary: undefined },
      );
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  handleDataRow({ fields }: { fields: Values }): void {
    if (this._canceledDueToError) return;
    try {
      this.reader ??= this.known[this.results.length]!.reader;
      this.readRows.push(this.reader(fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (!this.described.has(this.name)) this.described.set(this.name, NO_ROWS);
    this.results.push({ rows: this.readRows, command: text });
    this.readRows = [];
    this.reader = undefined;
    this.expectNext();
  }

  override handleError(error: Error, connection: Connection): void {
    // PostgreSQL has prepared no statement after the failed one, and possibly not the failed one either.
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
    this.isBinary = this.known[this.results.length]?.isBinary;
  }
}

/**
 * Sends statements in one round trip. With `eager`, PostgreSQL sends each result immediately, so the rows are read
 * while the next statement runs. On a busy server, `eager` costs more time than it saves.
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
 * Converts a parameter to its wire form. Arrays of byte strings are sent in binary, because the driver would write two
 * hexadecimal digits per byte.
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
