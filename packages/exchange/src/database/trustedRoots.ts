/** Stores the root certificates that the operator trusts. */
import type { Timestamp } from '@measurement-exchange/contract';
import { type Cursor, pageRow, pageText } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, insertText, optional, select, table, values } from './table.ts';

export interface TrustedRootRecord {
  id: string;
  /**
   * The only party for which the root may issue certificates. If undefined, the root applies to all parties that have
   * no root of their own.
   */
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

export const insertTrustedRoot = inTransaction.done(
  (record: TrustedRootRecord) => values(trustedRoots.columns, record),
  'trusted_root_insert',
  insertText(trustedRoots),
);

export const findTrustedRoot = read.first(
  ({ x509Der, party }: Pick<TrustedRootRecord, 'x509Der' | 'party'>) => [x509Der, party],
  'trusted_root_find',
  `SELECT ${COLUMNS} FROM trusted_roots
    WHERE sha256(x509_der) = sha256($1::bytea) AND coalesce(party, '') = coalesce($2, '')`,
  root,
);

export const deleteTrustedRoot = inTransaction.first(
  (id: string) => [id],
  'trusted_root_delete',
  `DELETE FROM trusted_roots WHERE id = $1 RETURNING ${COLUMNS}`,
  root,
);

export const listTrustedRoots = read.page(
  (after: Cursor, limit: number) => [after.time, after.id, limit],
  'trusted_root_list',
  pageText(
    `SELECT ${COLUMNS} FROM trusted_roots WHERE (create_time, id) > ($1::timestamptz, $2)`,
    'create_time, id',
  ),
  pageRow(root),
);

export const rootsForParties = read.all(
  (parties: string[]) => [parties],
  'trusted_root_for_parties',
  `SELECT ${COLUMNS} FROM trusted_roots WHERE party IS NULL OR party = ANY($1)`,
  root,
);

export const rootsNamed = read.all(
  (subjectKeyIdentifier: Uint8Array) => [subjectKeyIdentifier],
  'trusted_root_named',
  `SELECT ${COLUMNS} FROM trusted_roots WHERE subject_key_identifier = $1`,
  root,
);
