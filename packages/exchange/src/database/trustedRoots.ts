/** Root certificates the operator trusts. */
import type { Timestamp } from '@measurement-exchange/contract';
import { type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, type Page, pageOf, pageRow, pageText } from './page.ts';
import { column, names, optional, parameters, select, table, values } from './table.ts';

export interface TrustedRootRecord {
  id: string;
  /** undefined: for every party. */
  party: string | undefined;
  x509Der: Uint8Array;
  subjectKeyIdentifier: Uint8Array;
  notBefore: Timestamp;
  notAfter: Timestamp;
  createTime: Timestamp;
}

const trustedRoots = table<TrustedRootRecord>('trusted_roots', {
  id: column('id'),
  party: optional('party'),
  x509Der: column('x509_der', 'bytes'),
  subjectKeyIdentifier: column('subject_key_identifier', 'bytes'),
  notBefore: column('not_before', 'time'),
  notAfter: column('not_after', 'time'),
  createTime: column('create_time', 'time'),
});
const COLUMNS = select(trustedRoots);
const root = trustedRoots.reader();

const INSERT = sql(
  'trusted_root_insert',
  `INSERT INTO trusted_roots (${names(trustedRoots.columns)}) VALUES (${parameters(trustedRoots.columns, 1)})`,
);

export async function insertTrustedRoot(tx: Transaction, record: TrustedRootRecord): Promise<void> {
  await tx.query(INSERT, values(trustedRoots.columns, record));
}

const FIND = sql(
  'trusted_root_find',
  `SELECT ${COLUMNS} FROM trusted_roots
    WHERE sha256(x509_der) = sha256($1::bytea) AND coalesce(party, '') = coalesce($2, '')`,
  root,
);

/** The same root, trusted for the same party. */
export async function findTrustedRoot(
  db: Queryable,
  { x509Der, party }: Pick<TrustedRootRecord, 'x509Der' | 'party'>,
): Promise<TrustedRootRecord | undefined> {
  return (await db.query(FIND, [x509Der, party]))[0];
}

const DELETE = sql(
  'trusted_root_delete',
  `DELETE FROM trusted_roots WHERE id = $1 RETURNING ${COLUMNS}`,
  root,
);

export async function deleteTrustedRoot(tx: Transaction, id: string): Promise<TrustedRootRecord | undefined> {
  return (await tx.query(DELETE, [id]))[0];
}

const LIST = sql(
  'trusted_root_list',
  pageText(
    `SELECT ${COLUMNS} FROM trusted_roots WHERE (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
  pageRow(root),
);

export async function listTrustedRoots(
  db: Queryable,
  after: Cursor,
  limit: number,
): Promise<Page<TrustedRootRecord>> {
  return pageOf(await db.query(LIST, [after.time, after.id, limit]));
}

const FOR_PARTIES = sql(
  'trusted_root_for_parties',
  `SELECT ${COLUMNS} FROM trusted_roots WHERE party IS NULL OR party = ANY($1)`,
  root,
);

/** The roots that count for any of these parties. */
export async function rootsForParties(db: Queryable, parties: string[]): Promise<TrustedRootRecord[]> {
  return db.query(FOR_PARTIES, [parties]);
}
