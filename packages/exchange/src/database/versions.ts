/** Writes versions of resources. The statement that writes a version also appends the change to the change log. */
import type { ChangeRecord } from '../domain/changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import {
  arrayParameters,
  arrays,
  type Column,
  column,
  insertText,
  names,
  only,
  optional,
  parameters,
  type Table,
  table,
  values,
} from './table.ts';

export const changes = table<ChangeRecord>('changes', {
  party: column('party'),
  name: column('name'),
  kind: column('kind'),
  state: optional('state'),
  version: column('version', 'int'),
  time: column('time', 'time'),
});

export function appendChanges(first: number): string {
  const columns = names(changes.columns);
  return `INSERT INTO changes (${columns}) SELECT ${names(changes.columns, 'c')}
    FROM unnest(${arrayParameters(changes.columns, first)}) WITH ORDINALITY AS c(${columns}, n) ORDER BY c.n`;
}

/**
 * Returns the SQL parameter that contains the kinds of the changes. `first` is the number of the first parameter of
 * `appendChanges`.
 */
export function kindsOfChanges(first: number): string {
  return `$${first + changes.columns.findIndex(({ name }) => name === 'kind')}::text[]`;
}

/** Returns the arrays of values for `appendChanges`, and registers the parties to notify after the commit. */
export function changeValues(db: Queryable, rows: ChangeRecord[]): unknown[][] {
  for (const { party } of rows) db.wakes?.(party);
  return arrays(changes.columns, rows);
}

/**
 * SQL condition: false if a transaction with a later ID has written the row. If the condition is false, the current
 * transaction must restart with a new ID, because versions must be in the order of transaction IDs.
 */
export const IN_ORDER = isNotLater('xmin');

/**
 * SQL condition: false if `xid` is later than this transaction's ID. IDs wrap around at 32 bits, so a very old ID can
 * seem later. An ID that is really later is less than a million ahead.
 */
export function isNotLater(xid: string): string {
  return `age(${xid}) NOT BETWEEN -1000000 AND -1`;
}

function insertStatement<R>(name: string, of: Table<R>, others: string[] = []) {
  const changes = appendChanges(of.columns.length + others.length + 1);
  return sql(name, `WITH change AS (${changes}) ${insertText(of, others)}`);
}

export function insertVersion<R>(name: string, of: Table<R>, changesOf: (record: R) => ChangeRecord[]) {
  const statement = insertStatement(name, of);
  return async (db: Queryable, record: R): Promise<void> => {
    await db.query(statement, [...values(of.columns, record), ...changeValues(db, changesOf(record))]);
  };
}

/**
 * Identifies a request that creates a resource. Requests with the same ID create only one resource. `hash` is a hash of
 * the request's content, and shows whether two such requests have the same content.
 */
export interface RequestKey {
  id: string;
  hash: Uint8Array;
}

/**
 * Like `insertVersion`, but the returned function also stores the ID and the hash of the request that creates the
 * record.
 */
export function insertRequested<R>(name: string, of: Table<R>, changesOf: (record: R) => ChangeRecord[]) {
  const statement = insertStatement(name, of, ['request_id', 'request_hash']);
  return (tx: Transaction, record: R, request: RequestKey | undefined): void => {
    const appended = changeValues(tx, changesOf(record));
    tx.last(statement, [...values(of.columns, record), request?.id, request?.hash, ...appended]);
  };
}

/**
 * Returns a function that saves the next version of a record. The write fails if the row no longer has the previous
 * version, or if IN_ORDER is false for the row.
 */
export function saveVersion<R extends { version: number }, Args extends unknown[]>(
  name: string,
  of: Table<R>,
  keys: (keyof R)[],
  changeable: Column<R>[],
  changesOf: (record: R, ...args: Args) => ChangeRecord[],
) {
  const key = only(of, ...keys) as Column<R>[];
  const version = key.length + 1;
  const statement = sql(
    name,
    `WITH saved AS (
       UPDATE ${of.name} SET (${names(changeable)}) = (${parameters(changeable, version + 1)})
        WHERE (${names(key)}) = (${parameters(key, 1)}) AND version = $${version}::int - 1 AND ${IN_ORDER} RETURNING 1
     ), change AS (${appendChanges(version + 1 + changeable.length)})
     SELECT expect_rows((SELECT count(*) FROM saved), 1)`,
  );
  return (tx: Transaction, record: R, ...args: Args): void => {
    const appended = changeValues(tx, changesOf(record, ...args));
    tx.last(statement, [...values(key, record), record.version, ...values(changeable, record), ...appended]);
  };
}
