import type { Timestamp } from '@measurement-exchange/contract';
import { certificateName, type VersionedCertificate } from '../domain/certificate.ts';
import { certificateChange } from '../domain/changes.ts';
import { sql, type Transaction } from './db.ts';
import { type Cursor, longPageText, pageRow } from './page.ts';
import { lockAndRead, read } from './run.ts';
import { column, only, optional, select, table } from './table.ts';
import { insertVersion, saveVersion } from './versions.ts';

export interface CertificateRecord extends VersionedCertificate {
  x509Der: Uint8Array;
  subjectKeyIdentifier: Uint8Array;
  createTime: Timestamp;
}

const certificates = table<CertificateRecord>('certificates', {
  party: column('party'),
  id: column('id'),
  x509Der: column('x509_der', 'bytes'),
  subjectKeyIdentifier: column('subject_key_identifier', 'bytes'),
  notBefore: column('not_before', 'time'),
  notAfter: column('not_after', 'time'),
  revocationState: optional('revocation_state'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
});
const COLUMNS = select(certificates);
const certificate = certificates.reader();

export const insertCertificate = insertVersion('certificate_insert', certificates, (created) => [
  certificateChange(created, created.createTime),
]);

/**
 * Finds a certificate by its DER. The caller must lock the party first, so that no other transaction can insert the
 * same certificate.
 */
export const findCertificate = read.first(
  ({ party, x509Der }: Pick<CertificateRecord, 'party' | 'x509Der'>) => [party, x509Der],
  'certificate_find',
  `SELECT ${COLUMNS} FROM certificates WHERE party = $1 AND sha256(x509_der) = sha256($2::bytea)`,
  certificate,
);

/**
 * Generates an ORDER BY list that puts a party's best certificate first. The criteria are, in this order: the
 * certificate is neither revoked nor on hold, it is valid now, it expires last. `now` is a SQL parameter, such as `$2`.
 */
export function preference(now: string): string {
  return `revocation_state IS NULL DESC, not_before <= ${now}::timestamptz AND ${now}::timestamptz <= not_after DESC,
    not_after DESC, not_before DESC, id`;
}

export const getCertificate = read.first(
  (party: string, id: string) => [party, id],
  'certificate_get',
  `SELECT ${COLUMNS} FROM certificates WHERE party = $1 AND id = $2`,
  certificate,
);

export const getPreferredCertificate = read.first(
  (party: string, now: Timestamp) => [party, now],
  'certificate_get_preferred',
  `SELECT ${COLUMNS} FROM certificates WHERE party = $1
    ORDER BY ${preference('$2')} LIMIT 1`,
  certificate,
);

/** The approximate size of a certificate in a response, in bytes. The response contains the DER as base64. */
const SIZE = '300 + octet_length(x509_der) * 4 / 3';

function listStatement(name: string, found: string) {
  return sql(
    name,
    longPageText(
      `SELECT c.party, c.id, c.create_time AS position, ${SIZE} AS size FROM ${found}
          AND (c.create_time, c.id) > ($2::timestamptz, $3) ORDER BY c.create_time, c.id LIMIT $4::int + 1`,
      `SELECT ${COLUMNS}, candidates, nth FROM page JOIN certificates USING (party, id)`,
      { limit: 4, bytes: 5 },
    ),
    pageRow(certificate),
  );
}

/**
 * Lists a party's certificates, or only those with one of the given key identifiers. The identifiers must be distinct,
 * because a repeated identifier would list its certificates twice.
 */
export const listCertificates = read.filteredPage(
  (party: string, after: Cursor, limit: number, maxBytes: number) => [
    ...[party, after.time, after.id, limit, maxBytes],
  ],
  listStatement('certificate_list', 'certificates c WHERE c.party = $1'),
  listStatement(
    'certificate_list_of_keys',
    `unnest($6::bytea[]) AS wanted(key) JOIN certificates c ON c.subject_key_identifier = wanted.key
      WHERE c.party = $1`,
  ),
);

/**
 * The key of an advisory lock that a transaction takes before it locks a certificate's row. PostgreSQL grants advisory
 * locks in the order of requests. For row locks, PostgreSQL lets new shared lockers overtake a waiting revocation. In a
 * test with 16 busy connections, a revocation waited up to 46 ms with this lock and up to 5 s without it.
 */
const GATE = `hashtextextended(party || '/' || id, 0)`;
const QUEUE_AT_GATE = sql(
  'certificate_queue_at_gate',
  `SELECT pg_advisory_xact_lock(${GATE}) FROM (VALUES ($1::text, $2::text)) AS wanted(party, id)`,
);
const LOCK = sql(
  'certificate_lock',
  // Use FOR NO KEY UPDATE, because FOR UPDATE would also block inserts of rows that refer to the certificate.
  `SELECT ${COLUMNS} FROM certificates WHERE party = $1 AND id = $2 FOR NO KEY UPDATE`,
  certificate,
);

export async function lockCertificate(
  tx: Transaction,
  party: string,
  id: string,
): Promise<CertificateRecord | undefined> {
  return (await lockAndRead(tx, QUEUE_AT_GATE, LOCK, [party, id]))[0];
}

export const updateCertificate = saveVersion(
  'certificate_update',
  certificates,
  ['party', 'id'],
  // Write only these fields, because the other fields of a certificate never change.
  only(certificates, 'revocationState', 'version'),
  (certificate, now: Timestamp) => [certificateChange(certificate, now)],
);

/** Locks certificates, so that they cannot be revoked until the transaction ends. */
export const lockCertificatesForShare = read.byKey(
  ({ party, id }: CertificateRecord) => certificateName(party, id),
  (wanted: { party: string; id: string }[]) => [wanted.map((c) => c.party), wanted.map((c) => c.id)],
  'certificate_share',
  `WITH gate AS MATERIALIZED (
     SELECT party, id, pg_advisory_xact_lock_shared(${GATE})
       FROM unnest($1::text[], $2::text[]) AS wanted(party, id) ORDER BY party, id
   )
   SELECT ${COLUMNS} FROM gate JOIN certificates USING (party, id) ORDER BY party, id
      FOR SHARE OF certificates`,
  certificate,
);

export const usableCertificates = read.all(
  (party: string, now: Timestamp) => [party, now],
  'certificate_list_usable',
  `SELECT ${COLUMNS} FROM certificates
    WHERE party = $1 AND revocation_state IS NULL AND not_before <= $2 AND not_after >= $2
    ORDER BY not_after DESC, id`,
  certificate,
);

export const revokedCertificates = read.all(
  (provider: string, requisition: string) => [provider, requisition],
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
   SELECT ${COLUMNS} FROM named JOIN certificates USING (party, id) WHERE revocation_state IS NOT NULL`,
  certificate,
);

export const revokedOfComputation = read.all(
  (id: string) => [id],
  'certificate_get_revoked_of_computation',
  `WITH named AS MATERIALIZED (
     SELECT consumer AS party, certificate AS id FROM measurements WHERE id = $1
      UNION
     SELECT provider, certificate FROM requisitions WHERE measurement = $1
      UNION
     SELECT duchy, certificate FROM computations WHERE id = $1
   )
   SELECT ${COLUMNS} FROM named JOIN certificates USING (party, id) WHERE revocation_state IS NOT NULL`,
  certificate,
);

/**
 * Counts the certificates that expire within `days` and are neither revoked nor on hold. Returns one count per
 * collection of parties, such as `dataProviders`.
 */
export const countExpiring = read.byKey(
  ({ collection }: { collection: string; n: number }) => collection,
  (now: Timestamp, days: number) => [now, days],
  'certificate_count_expiring',
  `SELECT split_part(party, '/', 1) AS collection, count(*)::int AS n FROM certificates
    WHERE revocation_state IS NULL AND not_after BETWEEN $1 AND $1::timestamptz + make_interval(days => $2)
    GROUP BY 1`,
);
