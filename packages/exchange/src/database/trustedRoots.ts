/** Root certificates the operator trusts. */
import type { Timestamp } from '@measurement-exchange/contract';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';
import { type Cursor, hasMore, type Page, pageText } from './page.ts';

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

const COLUMNS = 'id, party, x509_der, subject_key_identifier, not_before, not_after, create_time';

const INSERT = sql(
  'trusted_root_insert',
  `INSERT INTO trusted_roots (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertTrustedRoot(tx: Transaction, r: TrustedRootRecord): Promise<void> {
  await tx.query(INSERT, [
    r.id,
    r.party,
    r.x509Der,
    r.subjectKeyIdentifier,
    r.notBefore,
    r.notAfter,
    r.createTime,
  ]);
}

const FIND = sql(
  'trusted_root_find',
  `SELECT ${COLUMNS} FROM trusted_roots
    WHERE sha256(x509_der) = sha256($1::bytea) AND coalesce(party, '') = coalesce($2, '')`,
);

/** The same root, trusted for the same party. */
export async function findTrustedRoot(
  db: Queryable,
  { x509Der, party }: Pick<TrustedRootRecord, 'x509Der' | 'party'>,
): Promise<TrustedRootRecord | undefined> {
  return (await db.query(FIND, [x509Der, party])).map(rootOf)[0];
}

const DELETE = sql('trusted_root_delete', `DELETE FROM trusted_roots WHERE id = $1 RETURNING ${COLUMNS}`);

export async function deleteTrustedRoot(tx: Transaction, id: string): Promise<TrustedRootRecord | undefined> {
  return (await tx.query(DELETE, [id])).map(rootOf)[0];
}

const LIST = sql(
  'trusted_root_list',
  pageText(
    `SELECT ${COLUMNS} FROM trusted_roots WHERE (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
);

export async function listTrustedRoots(
  db: Queryable,
  after: Cursor,
  limit: number,
): Promise<Page<TrustedRootRecord>> {
  const rows = await db.query(LIST, [after.time, after.id, limit]);
  return { items: rows.map(rootOf), more: hasMore(rows) };
}

const FOR_PARTIES = sql(
  'trusted_root_for_parties',
  `SELECT ${COLUMNS} FROM trusted_roots WHERE party IS NULL OR party = ANY($1)`,
);

/** The roots that count for any of these parties. */
export async function rootsForParties(db: Queryable, parties: string[]): Promise<TrustedRootRecord[]> {
  return (await db.query(FOR_PARTIES, [parties])).map(rootOf);
}

function rootOf(row: Row): TrustedRootRecord {
  return {
    id: row.id,
    party: row.party ?? undefined,
    x509Der: row.x509_der,
    subjectKeyIdentifier: row.subject_key_identifier,
    notBefore: row.not_before,
    notAfter: row.not_after,
    createTime: row.create_time,
  };
}
