/** Functions that run one statement. `values` makes the parameters of the statement from their arguments. */
import type { Reader } from '@measurement-exchange/server/database';
import { type Queryable, type Statement, sql, type Transaction } from './db.ts';
import { type Page, type PageRow, pageOf } from './page.ts';

type Values<Args extends unknown[]> = (...args: Args) => unknown[];
/** A statement, or what makes one. */
type Source<R> = [statement: Statement<R>] | [name: string, text: string, reader?: Reader<R>];

function statementOf<R>(source: Source<R>): Statement<R> {
  return source.length === 1 ? source[0] : sql(...source);
}

function runners<Db extends Queryable>() {
  /** Every row. */
  function all<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    const statement = statementOf(source);
    return (db: Db, ...args: Args): Promise<R[]> => db.query(statement, values(...args));
  }

  /** The first row, if there is one. */
  function first<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<R | undefined> => (await rows(db, ...args))[0];
  }

  /** The row of a statement that always has one. */
  function one<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<R>) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<R> => (await rows(db, ...args))[0]!;
  }

  /** The number `n` in the row of such a statement. */
  function number<Args extends unknown[]>(values: Values<Args>, ...source: Source<{ n: number }>) {
    const row = one(values, ...source);
    return async (db: Db, ...args: Args): Promise<number> => (await row(db, ...args)).n;
  }

  /** Whether the statement has a row. */
  function exists<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<boolean> => (await rows(db, ...args)).length > 0;
  }

  /** The rows by a key. */
  function byKey<R, Args extends unknown[]>(
    keyOf: (row: R) => string,
    values: Values<Args>,
    ...source: Source<R>
  ) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<Map<string, R>> =>
      new Map((await rows(db, ...args)).map((row) => [keyOf(row), row]));
  }

  /** A statement that is awaited for its effect, or for the error that it may have. */
  function done<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<void> => void (await rows(db, ...args));
  }

  function page<R, Args extends unknown[]>(values: Values<Args>, ...source: Source<PageRow<R>>) {
    const rows = all(values, ...source);
    return async (db: Db, ...args: Args): Promise<Page<R>> => pageOf(await rows(db, ...args));
  }

  /** A page of every row, or only of those that match a filter, which is the last parameter of the second statement. */
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

/** Inside or outside of a transaction. */
export const read = runners<Queryable>();

export const inTransaction = {
  ...runners<Transaction>(),

  /** A write that nothing waits for: it is sent at once, and awaited with the COMMIT. */
  last<Args extends unknown[]>(values: Values<Args>, ...source: Source<unknown>) {
    const statement = statementOf(source);
    return (tx: Transaction, ...args: Args): void => tx.last(statement, values(...args));
  },
};
