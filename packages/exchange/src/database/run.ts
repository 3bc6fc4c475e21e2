/**
 * Builds functions that run one SQL statement. `values` converts a function's arguments to the statement's parameters.
 */
import type { Reader } from '@measurement-exchange/server/database';
import { type Queryable, type Statement, sql, type Transaction } from './db.ts';
import { type Page, type PageRow, pageOf } from './page.ts';

type Values<Args extends unknown[]> = (...args: Args) => unknown[];
type Source<R> = [statement: Statement<R>] | [name: string, text: string, reader?: Reader<R>];

function statementOf<R>(source: Source<R>): Statement<R> {
  return source.length === 1 ? source[0] : sql(...source);
}

function runners<Db extends Queryable>() {
  function all<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    const statement = statementOf(source);
    return (db: Db, ...args: Args): Promise<R[]> => db.query(statement, values(...args));
  }

  function mapped<R, Args extends unknown[], T>(
    map: (rows: R[]) => T,
    values: Values<Args>,
    source: Source<R>,
  ) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<T> => map(await rows(db, ...args));
  }

  function first<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    return mapped(([row]: R[]): R | undefined => row, values, source);
  }

  /** Builds a function that runs a statement and returns its row. The statement must always return exactly one row. */
  function one<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    return mapped((rows: R[]) => rows[0]!, values, source);
  }

  function number<Args extends unknown[]>(values: Values<Args>, ...source: Source<{ n: number }>) {
    return mapped(([row]) => row!.n, values, source);
  }

  function exists<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    return mapped((rows) => rows.length > 0, values, source);
  }

  function byKey<R, Args extends unknown[]>(
    keyOf: (row: R) => string,
    values: Values<Args>,
    ...source: Source<R>
  ) {
    return mapped((rows: R[]) => new Map(rows.map((row) => [keyOf(row), row])), values, source);
  }

  function done<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    return mapped(() => {}, values, source);
  }

  function page<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<PageRow<R>>) {
    return mapped(pageOf<R>, values, source);
  }

  /**
   * Builds a function that runs `ofAll` if `filter` is undefined. Otherwise, the function runs `ofMatching`, whose last
   * parameter is the filter.
   */
  function filteredPage<R, Args extends unknown[]>(
    values: Values<Args>,
    ofAll: Statement<PageRow<R>>,
    ofMatching: Statement<PageRow<R>>,
  ) {
    return async (db: Db, filter: string | Uint8Array[] | undefined, ...args: Args): Promise<Page<R>> =>
      pageOf(
        filter === undefined
          ? await db.query(ofAll, values(...args))
          : await db.query(ofMatching, [...values(...args), filter]),
      );
  }

  return { all, first, one, number, exists, byKey, done, page, filteredPage };
}

export const read = runners<Queryable>();

export const inTransaction = {
  ...runners<Transaction>(),

  /**
   * Builds a function that sends a write immediately. The transaction awaits the write together with the COMMIT. Use
   * this for a write whose result the caller does not need.
   */
  last<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    const statement = statementOf(source);
    return (tx: Transaction, ...args: Args): void => tx.last(statement, values(...args));
  },
};

/**
 * Locks rows with one statement and reads them with another. The read then sees all changes that were committed before
 * the lock was granted.
 */
export async function lockAndRead<R>(
  tx: Transaction,
  lock: Statement,
  load: Statement<R>,
  values: unknown[],
): Promise<R[]> {
  const [, rows] = await Promise.all([tx.query(lock, values), tx.query(load, values)]);
  return rows;
}
