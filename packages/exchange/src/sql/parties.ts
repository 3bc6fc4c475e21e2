/** Parties, the principals bound to them, and their certificates. */
import type { Protocol, Timestamp } from '@measurement-exchange/contract';
import type { Certificate } from '../domain/certificate.ts';
import { type Queryable, type Row, sql } from './db.ts';

export interface Party {
  name: string;
  state: 'ACTIVE' | 'SUSPENDED';
  /** Multi-party protocols it can take part in. */
  protocols: Set<Protocol>;
}

const GET_MANY = sql('party_get_many', 'SELECT name, state, protocols FROM parties WHERE name = ANY($1)');

export async function getParties(db: Queryable, names: string[]): Promise<Map<string, Party>> {
  const rows = await db.query<{ name: string; state: Party['state']; protocols: Protocol[] }>(GET_MANY, [
    names,
  ]);
  return new Map(rows.map((row) => [row.name, { ...row, protocols: new Set(row.protocols) }]));
}

const BOUND_TO = sql(
  'principal_get',
  `SELECT principals.resource AS name, coalesce(parties.state, 'ACTIVE') AS state
     FROM principals LEFT JOIN parties ON parties.name = principals.resource
    WHERE issuer = $1 AND subject = $2 AND (principals.resource = 'operator' OR parties.name IS NOT NULL)`,
);

/** What a token's subject is bound to, or a party that a token names itself. */
export async function findPrincipal(
  db: Queryable,
  query: { issuer: string; subject: string } | { name: string },
): Promise<{ name: string; state: Party['state'] } | undefined> {
  if ('name' in query) return (await getParties(db, [query.name])).get(query.name);
  return (
    await db.query<{ name: string; state: Party['state'] }>(BOUND_TO, [query.issuer, query.subject])
  )[0];
}

const INSERT_PARTY = sql(
  'party_insert',
  `INSERT INTO parties (name, display_name, create_time, update_time) VALUES ($1, $2, $3, $3)
   ON CONFLICT (name) DO NOTHING`,
);

export async function ensureParty(
  db: Queryable,
  name: string,
  displayName: string,
  now: Timestamp,
): Promise<void> {
  await db.query(INSERT_PARTY, [name, displayName, now]);
}

const SET_PUBLIC_KEY = sql(
  'party_set_public_key',
  `UPDATE parties SET public_key = $2, public_key_signature = $3, public_key_certificate = $4, update_time = $5
    WHERE name = $1`,
);

export async function setPublicKey(
  db: Queryable,
  party: string,
  key: { message: Uint8Array; signature: Uint8Array; certificate: string },
  now: Timestamp,
): Promise<void> {
  await db.query(SET_PUBLIC_KEY, [party, key.message, key.signature, key.certificate, now]);
}

export interface CertificateRecord extends Certificate {
  x509Der: Uint8Array;
  subjectKeyIdentifier: Uint8Array;
}

const CERTIFICATE_COLUMNS =
  'party, id, x509_der, subject_key_identifier, not_before, not_after, revocation_state';

const INSERT_CERTIFICATE = sql(
  'certificate_insert',
  `INSERT INTO certificates (${CERTIFICATE_COLUMNS}, create_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export async function insertCertificate(db: Queryable, c: CertificateRecord, now: Timestamp): Promise<void> {
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

const GET_CERTIFICATE = sql(
  'certificate_get',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE party = $1 AND id = $2`,
);
const GET_PREFERRED = sql(
  'certificate_get_preferred',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates WHERE party = $1
    ORDER BY revocation_state IS NULL DESC, not_before <= $2::timestamptz AND $2::timestamptz <= not_after DESC,
             not_after DESC, not_before DESC, id LIMIT 1`,
);

export async function getCertificate(
  db: Queryable,
  party: string,
  id: string,
): Promise<CertificateRecord | undefined> {
  return (await db.query(GET_CERTIFICATE, [party, id])).map(certificateOf)[0];
}

/** Not revoked or held, then valid now, then the latest notAfter, then the latest notBefore. */
export async function getPreferredCertificate(
  db: Queryable,
  party: string,
  now: Timestamp,
): Promise<CertificateRecord | undefined> {
  return (await db.query(GET_PREFERRED, [party, now])).map(certificateOf)[0];
}

const SHARE = sql(
  'certificate_share',
  `SELECT ${CERTIFICATE_COLUMNS} FROM certificates
    WHERE (party, id) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY party, id FOR SHARE`,
);

/** Held against a revocation until the transaction ends, so that none slips through. Keyed by name. */
export async function shareCertificates(
  db: Queryable,
  wanted: { party: string; id: string }[],
): Promise<Map<string, Certificate>> {
  const rows = await db.query(SHARE, [wanted.map((c) => c.party), wanted.map((c) => c.id)]);
  return new Map(rows.map(certificateOf).map((c) => [`${c.party}/certificates/${c.id}`, c]));
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
  };
}
