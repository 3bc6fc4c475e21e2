/**
 * How statements are asked. The driver has the server describe the columns at every use, builds a plain object for each
 * row by their names, and has each statement answered by itself. Here a connection has a statement described once, rows
 * are made by a reader of its own, and statements that are sent together are answered together.
 */
import pg from 'pg';

/** Prepared once per connection under its name. */
export interface Statement {
  name: string;
  text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

export interface Answer {
  rows: Row[];
  /** What was done, in the server's words: `COMMIT`, `UPDATE 1`. */
  command: string;
}

export interface Question {
  statement: Statement;
  values: unknown[];
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

type Values = (string | null)[];
type RowReader = (values: Values) => Row;
interface Column {
  name: string;
  dataTypeID: number;
}

/** What the driver knows of a connection, and sends on it. */
interface Connection {
  parsedStatements: Record<string, string>;
  /** Those whose answer is still to come. */
  submittedNamedStatements: Record<string, string>;
  parse(statement: Statement): void;
  bind(what: { statement: string; values: unknown[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  flush(): void;
  sync(): void;
}

/** What the driver's own query does with what the server says; it is made to be extended, its types do not say so. */
interface DriverQuery {
  /** Of the statement whose answer is due: the driver notes it as prepared, or as not. */
  name: string;
  text: string;
  _result: { _types: pg.CustomTypesConfig };
  /** What the callback gets. */
  _results: unknown;
  _canceledDueToError: unknown;
  prepare(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** Of a connection, by the name of the statement; of one without columns: `noRows`. */
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

/** Statements one behind the other. The first that fails fails all: the server does none of those behind it. */
class RoundTrip extends DriverQuery {
  private readonly questions: Question[];
  private readonly wireValues: unknown[][];
  private readonly eager: boolean;
  private readonly answers: Answer[] = [];
  private readers!: Map<string, RowReader>;
  private reader: RowReader | undefined;
  private read: Row[] = [];

  constructor(questions: Question[], eager: boolean) {
    super('');
    // Before anything is sent: of a round trip that was sent by half there would be no end.
    this.wireValues = questions.map(({ values }) => values.map(inWireForm));
    this.questions = questions;
    this.eager = eager;
    this._results = this.answers;
    this.expectNext();
  }

  override prepare(connection: Connection): void {
    const { parsedStatements, submittedNamedStatements } = connection;
    const readers = readersFor(connection);
    this.readers = readers;
    for (let i = 0; i < this.questions.length; i++) {
      const { statement } = this.questions[i]!;
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
    this.reader = rowReader(fields, this._result._types);
    this.readers.set(this.name, this.reader);
  }

  handleDataRow({ fields }: { fields: Values }): void {
    if (this._canceledDueToError) return;
    try {
      this.reader ??= this.readers.get(this.name)!;
      this.read.push(this.reader(fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (!this.readers.has(this.name)) this.readers.set(this.name, noRows);
    this.answers.push({ rows: this.read, command: text });
    this.read = [];
    this.reader = undefined;
    this.expectNext();
  }

  override handleError(error: Error, connection: Connection): void {
    // The server passed over what was behind, the preparing of it as well.
    for (const { statement } of this.questions.slice(this.answers.length)) {
      delete connection.submittedNamedStatements[statement.name];
    }
    super.handleError(error, connection);
  }

  private expectNext(): void {
    const next = this.questions[this.answers.length];
    if (next === undefined) return;
    this.name = next.statement.name;
    this.text = next.statement.text;
  }
}

/**
 * Sends statements together. `eager`: the server sends each answer as soon as it has it, so that the rows are read while
 * it works on the next statement. Where it has others to serve as well, that takes more time than it brings.
 */
export function askTogether(on: pg.Pool | pg.ClientBase, questions: Question[], eager = false): void {
  const done = (error: Error | undefined, answers: Answer[]) => {
    for (let i = 0; i < questions.length; i++) {
      if (error) questions[i]!.reject(error);
      else questions[i]!.resolve(answers[i]!);
    }
  };
  try {
    on.query(new RoundTrip(questions, eager) as never, done as never);
  } catch (error) {
    done(error as Error, []);
  }
}

/** The rows of a statement. */
export function ask(on: pg.Pool | pg.ClientBase, statement: Statement, values: unknown[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    askTogether(on, [{ statement, values, resolve: ({ rows }) => resolve(rows), reject }]);
  });
}

/** Bytes in an array as they are: the driver would write them as twice as many digits, for the server to read. */
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

/**
 * Compiled: written out, the members of a row are stored where they belong, one after the other; a loop over their
 * names looks each one up.
 */
function rowReader(columns: Column[], types: pg.CustomTypesConfig): RowReader {
  const parsers = columns.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text'));
  const members = columns.map(
    ({ name }, i) => `${JSON.stringify(name)}: v[${i}] === null ? null : p[${i}](v[${i}])`,
  );
  return new Function('p', `return (v) => ({ ${members.join(', ')} });`)(parsers) as RowReader;
}
