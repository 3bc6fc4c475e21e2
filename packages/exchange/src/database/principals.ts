/** Which subject of which issuer speaks for which party, or for the operator. */
import type { PartyState, Timestamp } from '@measurement-exchange/contract';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';
import { type Cursor, hasMore, type Page, pageText } from './page.ts';

export interface BindingRecord {
  id: string;
  issuer: string;
  subject: string;
  /** A party name or `operator`. */
  resource: string;
  createTime: Timestamp;
}

const BOUND_TO = sql(
  'principal_find',
  `SELECT principals.resource AS name, coalesce(parties.state, 'ACTIVE') AS state
     FROM principals LEFT JOIN parties ON parties.name = principals.resource
    WHERE issuer = $1 AND subject = $2 AND (principals.resource = 'operator' OR parties.name IS NOT NULL)`,
);
const NAMED = sql('principal_find_named', 'SELECT name, state FROM parties WHERE name = $1');

/** What a token's subject is bound to, or a party that a token names itself. */
export async function findPrincipal(
  db: Queryable,
  query: { issuer: string; subject: string } | { name: string },
): Promise<{ name: string; state: PartyState } | undefined> {
  const rows =
    'name' in query
      ? await db.query<{ name: string; state: PartyState }>(NAMED, [query.name])
      : await db.query<{ name: string; state: PartyState }>(BOUND_TO, [query.issuer, query.subject]);
  return rows[0];
}

const COLUMNS = 'id, issuer, subject, resource, create_time';

const INSERT = sql('principal_insert', `INSERT INTO principals (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`);

export async function insertBinding(tx: Transaction, b: BindingRecord): Promise<void> {
  await tx.query(INSERT, [b.id, b.issuer, b.subject, b.resource, b.createTime]);
}

const OF_SUBJECT = sql(
  'principal_of_subject',
  `SELECT ${COLUMNS} FROM principals WHERE issuer = $1 AND subject = $2`,
);

export async function bindingOf(
  db: Queryable,
  issuer: string,
  subject: string,
): Promise<BindingRecord | undefined> {
  return (await db.query(OF_SUBJECT, [issuer, subject])).map(bindingOfRow)[0];
}

const DELETE = sql('principal_delete', `DELETE FROM principals WHERE id = $1 RETURNING ${COLUMNS}`);

export async function deleteBinding(tx: Transaction, id: string): Promise<BindingRecord | undefined> {
  return (await tx.query(DELETE, [id])).map(bindingOfRow)[0];
}

function listStatement(name: string, condition: string) {
  const rows = `SELECT ${COLUMNS} FROM principals WHERE ${condition} AND (create_time, id) > ($1::timestamptz, $2)`;
  return sql(name, pageText(rows, 'create_time, id'));
}
const LIST_ALL = listStatement('principal_list', 'true');
const LIST_OF_RESOURCE = listStatement('principal_list_of_resource', 'resource = $4');

export async function listBindings(
  db: Queryable,
  resource: string | undefined,
  after: Cursor,
  limit: number,
): Promise<Page<BindingRecord>> {
  const page = [after.time, after.id, limit];
  const rows =
    resource === undefined
      ? await db.query(LIST_ALL, page)
      : await db.query(LIST_OF_RESOURCE, [...page, resource]);
  return { items: rows.map(bindingOfRow), more: hasMore(rows) };
}

function bindingOfRow(row: Row): BindingRecord {
  return {
    id: row.id,
    issuer: row.issuer,
    subject: row.subject,
    resource: row.resource,
    createTime: row.create_time,
  };
}
