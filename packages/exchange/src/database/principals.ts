/** Stores principals. A principal binds a token's issuer and subject to a party or to the operator. */
import type { PartyState, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql } from './db.ts';
import { type Cursor, pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, insertText, select, table, values } from './table.ts';

export interface BindingRecord {
  id: string;
  issuer: string;
  subject: string;
  resource: string;
  createTime: Timestamp;
}

const BOUND_TO = sql<{ name: string; state: PartyState }>(
  'principal_find',
  `SELECT principals.resource AS name, coalesce(parties.state, 'ACTIVE') AS state
     FROM principals LEFT JOIN parties ON parties.name = principals.resource
    WHERE issuer = $1 AND subject = $2 AND (principals.resource = 'operator' OR parties.name IS NOT NULL)`,
);
const NAMED = sql<{ name: string; state: PartyState }>(
  'principal_find_named',
  'SELECT name, state FROM parties WHERE name = $1',
);

export async function findPrincipal(
  db: Queryable,
  query: { issuer: string; subject: string } | { name: string },
): Promise<{ name: string; state: PartyState } | undefined> {
  const rows =
    'name' in query
      ? await db.query(NAMED, [query.name])
      : await db.query(BOUND_TO, [query.issuer, query.subject]);
  return rows[0];
}

const bindings = table<BindingRecord>('principals', {
  id: column('id'),
  issuer: column('issuer'),
  subject: column('subject'),
  resource: column('resource'),
  createTime: column('create_time', 'time'),
});
const COLUMNS = select(bindings);
const binding = bindings.reader();

export const insertBinding = inTransaction.done(
  (record: BindingRecord) => values(bindings.columns, record),
  'principal_insert',
  insertText(bindings),
);

export const bindingOf = read.first(
  (issuer: string, subject: string) => [issuer, subject],
  'principal_of_subject',
  `SELECT ${COLUMNS} FROM principals WHERE issuer = $1 AND subject = $2`,
  binding,
);

export const deleteBinding = inTransaction.first(
  (id: string) => [id],
  'principal_delete',
  `DELETE FROM principals WHERE id = $1 RETURNING ${COLUMNS}`,
  binding,
);

function listStatement(name: string, condition: string) {
  const rows = `SELECT ${COLUMNS} FROM principals WHERE ${condition} AND (create_time, id) > ($1::timestamptz, $2)`;
  return sql(name, pageText(rows, 'create_time, id'), pageRow(binding));
}

export const listBindings = read.filteredPage(
  (after: Cursor, limit: number) => [after.time, after.id, limit],
  listStatement('principal_list', 'true'),
  listStatement('principal_list_of_resource', 'resource = $4'),
);
