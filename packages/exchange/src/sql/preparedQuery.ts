/**
 * How a statement is asked: the driver has the server describe the columns at every use and builds a plain object for
 * each row by their names. Here a connection has a statement described once, and rows are made by a reader of its own.
 */
import pg from 'pg';

/** Prepared once per connection under its name. */
export interface Statement {
  name: string;
  text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are what the statement selects
export type Row = Record<string, any>;

type Values = (string | null)[];
type RowReader = (values: Values) => Row;
interface Column {
  name: string;
  dataTypeID: number;
}

/** What is known of a connection. */
interface Known {
  /** By the name of the statement; of one without columns: `noRows`. */
  readers: Map<string, RowReader>;
  /** The connection itself, but that it asks for no description. */
  undescribed: object;
}

const known = new WeakMap<object, Known>();
const noRows: RowReader = () => {
  throw new Error('A row of a statement without columns.');
};

/** What the driver's own query does with what the server says; it is made to be extended, its types do not say so. */
interface DriverQuery {
  name: string;
  _result: { rows: Row[]; _types: pg.CustomTypesConfig };
  _canceledDueToError: unknown;
  prepare(connection: object): void;
  handleCommandComplete(message: object, connection: object): void;
}
const DriverQuery = pg.Query as unknown as new (text: string, values: unknown[]) => DriverQuery;

class PreparedQuery extends DriverQuery {
  private readers!: Map<string, RowReader>;
  private reader: RowReader | undefined;

  constructor({ name, text }: Statement, values: unknown[]) {
    super(text, values.map(inBinary));
    this.name = name;
  }

  override prepare(connection: object): void {
    const { readers, undescribed } = knownOf(connection);
    this.readers = readers;
    this.reader = readers.get(this.name);
    super.prepare(this.reader === undefined ? connection : undescribed);
  }

  handleRowDescription({ fields }: { fields: Column[] }): void {
    this.reader = rowReader(fields, this._result._types);
    this.readers.set(this.name, this.reader);
  }

  handleDataRow({ fields }: { fields: Values }): void {
    if (this._canceledDueToError) return;
    try {
      this._result.rows.push(this.reader!(fields));
    } catch (error) {
      this._canceledDueToError = error;
    }
  }

  override handleCommandComplete(message: object, connection: object): void {
    if (this.reader === undefined) this.readers.set(this.name, noRows);
    super.handleCommandComplete(message, connection);
  }
}

/** The rows of a statement. */
export function ask(on: pg.Pool | pg.ClientBase, statement: Statement, values: unknown[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const answer = (error: Error | undefined, result: pg.QueryResult) =>
      error ? reject(error) : resolve(result.rows);
    on.query(new PreparedQuery(statement, values) as never, answer as never);
  });
}

/** Bytes in an array as they are: the driver would write them as twice as many digits, for the server to read. */
function inBinary(value: unknown): unknown {
  return Array.isArray(value) && value.some((item) => item instanceof Uint8Array) ? byteaArray(value) : value;
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

function knownOf(connection: object): Known {
  let entry = known.get(connection);
  if (entry === undefined) {
    const undescribed = Object.create(connection, { describe: { value: () => {} } });
    entry = { readers: new Map(), undescribed };
    known.set(connection, entry);
  }
  return entry;
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
