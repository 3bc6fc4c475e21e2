/** Certificates of parties. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { VersionedCertificate } from '../domain/certificate.ts';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';
import { type Cursor, hasMore, type Page } from './page.ts';

export interface CertificateRecord extends VersionedCertificate {
  x509Der: Uint8Array;
  subjectKeyIdentifier: Uint8Array;
  createTime: Timestamp;
}

const CERTIFICATE_COLUMNS = `party, id, x509_der, subject_key_identifier, not_before, not_after, revocation_state,
  version, create_time`;

const INSERT_CERTIFICATE = sql(
  'certificate_insert',
  `INSERT INTO certificates (${CERTIFICATE_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8)`,
);

/** Its first version. */
export async function insertCertificate(
  db: Queryable,
  c: Omit<CertificateRecord, 'version' | 'createTime'>,
  now: Timestamp,
): Promise<void> {
  await db.query(INSERT_CERTIFICATE, [
    c.party,
    c.id,
    c.x509Der,
    c.subjectKeyIdentifier,
    c.notBefore,
    c.notAfter,
    c.revocationState,
    now,
  ]);
}

const QUEUE_FOR_KEY = sql(
  'certificate_queue_for_key',
  `SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0))`,
);
const GET_SAME = sql(
  'certificate_get_same',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE sha256(x509_der) = sha256($1::bytea)`,
);
const GET_FOREIGN = sql(
  'certificate_get_foreign',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE subject_key_identifier = $1 AND party <> $2 LIMIT 1`,
);

/**
 * What stands in the way of a new certificate: the same one, or another party's with its key. Whoever else would
 * register this key waits until the transaction ends: no unique index can say "in one party only".
 */
export async function findObstacle(
  tx: Transaction,
  c: Pick<CertificateRecord, 'party' | 'x509Der' | 'subjectKeyIdentifier'>,
): Promise<CertificateRecord | undefined> {
  const [, same, foreign] = await Promise.all([
    tx.query(QUEUE_FOR_KEY, [c.subjectKeyIdentifier]),
    tx.query(GET_SAME, [c.x509Der]),
    tx.query(GET_FOREIGN, [c.subjectKeyIdentifier, c.party]),
  ]);
  return [...same, ...foreign].map(certificateOf)[0];
}

/**
 * A party's best certificate comes first: not revoked or held, then valid now, then the latest notAfter, then the
 * latest notBefore. `now` is the parameter that holds the time.
 */
export function preference(now: string): string {
  return `revocation_state IS NULL DESC, not_before <= ${now}::timestamptz AND ${now}::timestamptz <= not_after DESC,
    not_after DESC, not_before DESC, id`;
}

const GET_CERTIFICATE = sql(
  'certificate_get',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE party = $1 AND id = $2`,
);
const GET_PREFERRED = sql(
  'certificate_get_preferred',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE party = $1
    ORDER BY ${preference('$2')} LIMIT 1`,
);

export async function getCertificate(
  db: Queryable,
  party: string,
  id: string,
): Promise<CertificateRecord | undefined> {
  return (await db.query(GET_CERTIFICATE, [party, id])).map(certificateOf)[0];
}

export async function getPreferredCertificate(
  db: Queryable,
  party: string,
  now: Timestamp,
): Promise<CertificateRecord | undefined> {
  return (await db.query(GET_PREFERRED, [party, now])).map(certificateOf)[0];
}

/** A certificate is some 1,000 bytes, and a third more in base64. */
const SIZE = '300 + octet_length(x509_der) * 4 / 3';

function listStatement(name: string, found: string) {
  return sql(
    name,
    `WITH candidates AS MATERIALIZED (
       SELECT c.party, c.id, c.create_time, ${SIZE} AS size FROM ${found} AND (c.create_time, c.id) > ($2::timestamptz, $3)
        ORDER BY c.create_time, c.id LIMIT $4::int + 1
     ), page AS (
       SELECT party, id, count(*) OVER () AS candidates, row_number() OVER w AS nth, sum(size) OVER w AS running
         FROM candidates WINDOW w AS (ORDER BY create_time, id)
     )
     SELECT ${CERTIFICATE_COLUMNS}, candidates, nth FROM page JOIN certificates USING (party, id)
      WHERE nth <= $4::int AND (nth = 1 OR running <= $5::bigint) ORDER BY nth`,
  );
}
const LIST = listStatement('certificate_list', 'certificates c WHERE c.party = $1');
const LIST_OF_KEYS = listStatement(
  'certificate_list_of_keys',
  `unnest($6::bytea[]) AS wanted(key) JOIN certificates c ON c.subject_key_identifier = wanted.key
    WHERE c.party = $1`,
);

/** Those with one of the keys, or all where `keys` is undefined; each key once. */
export async function listCertificates(
  db: Queryable,
  party: string,
  keys: Uint8Array[] | undefined,
  after: Cursor,
  limit: number,
  maxBytes: number,
): Promise<Page<CertificateRecord>> {
  const page = [party, after.time, after.id, limit, maxBytes];
  const rows =
    keys === undefined ? await db.query(LIST, page) : await db.query(LIST_OF_KEYS, [...page, keys]);
  return { items: rows.map(certificateOf), more: hasMore(rows) };
}

/**
 * Whoever shares or locks a certificate comes through its gate first. Shared row locks alone let in whoever comes
 * next, before a revocation that waits: it waited up to 5 s for sixteen busy connections, and 46 ms at the gate.
 */
const GATE = `hashtextextended(party || '/' || id, 0)`;
const QUEUE_AT_GATE = sql(
  'certificate_queue_at_gate',
  `SELECT pg_advisory_xact_lock(${GATE}) FROM (VALUES ($1::text, $2::text)) AS wanted(party, id)`,
);
const LOCK = sql(
  'certificate_lock',
  // Not FOR UPDATE: the key of the row stays, so that foreign keys need not wait.
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE party = $1 AND id = $2 FOR NO KEY UPDATE`,
);

export async function lockCertificate(
  tx: Transaction,
  party: string,
  id: string,
): Promise<CertificateRecord | undefined> {
  const [, rows] = await Promise.all([tx.query(QUEUE_AT_GATE, [party, id]), tx.query(LOCK, [party, id])]);
  return rows.map(certificateOf)[0];
}

const UPDATE = sql(
  'certificate_update',
  `WITH c AS (
     UPDATE certificates SET revocation_state = $3, version = $4
      WHERE party = $1 AND id = $2 AND version = $4 - 1 RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM c), 1)`,
);

export function updateCertificate(tx: Transaction, c: VersionedCertificate): void {
  tx.last(UPDATE, [c.party, c.id, c.revocationState, c.version]);
}

const SHARE = sql(
  'certificate_share',
  `WITH gate AS MATERIALIZED (
     SELECT party, id, pg_advisory_xact_lock_shared(${GATE})
       FROM unnest($1::text[], $2::text[]) AS wanted(party, id) ORDER BY party, id
   )
   SELECT ${CERTIFICATE_COLUMNS} FROM gate JOIN certificates USING (party, id) ORDER BY party, id
      FOR SHARE OF certificates`,
);

/** Held against a revocation until the transaction ends, so that none slips through. Keyed by name. */
export async function shareCertificates(
  db: Queryable,
  wanted: { party: string; id: string }[],
): Promise<Map<string, CertificateRecord>> {
  const rows = await db.query(SHARE, [wanted.map((c) => c.party), wanted.map((c) => c.id)]);
  return new Map(rows.map(certificateOf).map((c) => [`${c.party}/certificates/${c.id}`, c]));
}

const USABLE = sql(
  'certificate_list_usable',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates
    WHERE party = $1 AND revocation_state IS NULL AND not_before <= $2 AND not_after >= $2
    ORDER BY not_after DESC, id`,
);

/** A party's certificates that may be used now. */
export async function usableCertificates(
  db: Queryable,
  party: string,
  now: Timestamp,
): Promise<CertificateRecord[]> {
  return (await db.query(USABLE, [party, now])).map(certificateOf);
}

const REVOKED = sql(
  'certificate_get_revoked',
  `WITH own AS MATERIALIZED (
     SELECT m.id, m.consumer, m.certificate FROM requisitions r JOIN measurements m ON m.id = r.measurement
      WHERE r.provider = $1 AND r.id = $2
   ), named AS MATERIALIZED (
     SELECT consumer AS party, certificate AS id FROM own
      UNION
     SELECT r.provider, unnest(ARRAY[r.certificate, r.result_certificate])
       FROM own JOIN requisitions r ON r.measurement = own.id
   )
   SELECT ${CERTIFICATE_COLUMNS} FROM named JOIN certificates USING (party, id) WHERE revocation_state IS NOT NULL`,
);

/** Of the certificates that the measurement of a requisition rests on, those that are revoked or on hold. */
export async function revokedCertificates(
  db: Queryable,
  provider: string,
  requisition: string,
): Promise<CertificateRecord[]> {
  return (await db.query(REVOKED, [provider, requisition])).map(certificateOf);
}

const COUNT_EXPIRING = sql(
  'certificate_count_expiring',
  `SELECT split_part(party, '/', 1) AS collection, count(*)::int AS n FROM certificates
    WHERE revocation_state IS NULL AND not_after BETWEEN $1 AND $1::timestamptz + make_interval(days => $2)
    GROUP BY 1`,
);

/** How many expire in the coming days, by the collection of their party. */
export async function countExpiring(
  db: Queryable,
  now: Timestamp,
  days: number,
): Promise<Map<string, number>> {
  const rows = await db.query<{ collection: string; n: number }>(COUNT_EXPIRING, [now, days]);
  return new Map(rows.map(({ collection, n }) => [collection, n]));
}

function certificateOf(row: Row): CertificateRecord {
  return {
    party: row.party,
    id: row.id,
    x509Der: row.x509_der,
    subjectKeyIdentifier: row.subject_key_identifier,
    notBefore: row.not_before,
    notAfter: row.not_after,
    revocationState: row.revocation_state ?? undefined,
    version: row.version,
    createTime: row.create_time,
  };
}
