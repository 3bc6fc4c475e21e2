/** Parties. */
import type { Protocol, Timestamp } from '@measurement-exchange/contract';
import type { PartyRecord } from '../domain/party.ts';
import { preference } from './certificates.ts';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';
import { type Cursor, hasMore, type Page } from './page.ts';

/** With the ID of its best certificate, if it has any. */
export type PartyWithCertificate = PartyRecord & { certificate: string | undefined };

const COLUMNS = `p.name, p.display_name, p.state, p.public_key, p.public_key_signature, p.public_key_algorithm,
  p.public_key_certificate, p.protocols, p.availability_start, p.availability_end, p.version, p.create_time,
  p.update_time`;
const WITH_CERTIFICATE = `${COLUMNS},
  (SELECT id FROM certificates WHERE party = p.name ORDER BY ${preference('$1')} LIMIT 1) AS certificate`;

const GET_MANY = sql('party_get_many', `SELECT ${COLUMNS} FROM parties p WHERE p.name = ANY($1)`);

export async function getParties(db: Queryable, names: string[]): Promise<Map<string, PartyRecord>> {
  const rows = await db.query(GET_MANY, [names]);
  return new Map(rows.map(partyOf).map((party) => [party.name, party]));
}

const GET = sql('party_get', `SELECT ${WITH_CERTIFICATE} FROM parties p WHERE p.name = $2`);

export async function getParty(
  db: Queryable,
  name: string,
  now: Timestamp,
): Promise<PartyWithCertificate | undefined> {
  return (await db.query(GET, [now, name])).map(partyOf)[0];
}

const EXISTS = sql('party_exists', 'SELECT 1 FROM parties WHERE name = $1');

export async function partyExists(db: Queryable, name: string): Promise<boolean> {
  return (await db.query(EXISTS, [name])).length > 0;
}

const LOCK = sql('party_lock', `SELECT ${WITH_CERTIFICATE} FROM parties p WHERE p.name = $2 FOR UPDATE`);

export async function lockParty(
  tx: Transaction,
  name: string,
  now: Timestamp,
): Promise<PartyWithCertificate | undefined> {
  return (await tx.query(LOCK, [now, name])).map(partyOf)[0];
}

const LIST = sql(
  'party_list',
  `WITH candidates AS MATERIALIZED (
     SELECT name, create_time FROM parties
      WHERE split_part(name, '/', 1) = $2 AND (create_time, name) > ($3::timestamptz, $4)
      ORDER BY create_time, name LIMIT $5::int + 1
   ), page AS (
     SELECT name, count(*) OVER () AS candidates, row_number() OVER (ORDER BY create_time, name) AS nth FROM candidates
   )
   SELECT ${WITH_CERTIFICATE}, page.candidates, page.nth FROM page JOIN parties p ON p.name = page.name
    WHERE page.nth <= $5::int ORDER BY page.nth`,
);

/** `collection`: `dataProviders` … */
export async function listParties(
  db: Queryable,
  collection: string,
  after: Cursor,
  limit: number,
  now: Timestamp,
): Promise<Page<PartyWithCertificate>> {
  const rows = await db.query(LIST, [now, collection, after.time, after.id, limit]);
  return { items: rows.map(partyOf), more: hasMore(rows) };
}

const INSERT = sql(
  'party_insert',
  `INSERT INTO parties (name, display_name, state, public_key, public_key_signature, public_key_algorithm,
     public_key_certificate, protocols, availability_start, availability_end, version, create_time, update_time)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

export async function insertParty(db: Queryable, party: PartyRecord): Promise<void> {
  await db.query(INSERT, [...values(party), party.createTime, party.updateTime]);
}

const UPDATE = sql(
  'party_update',
  `WITH p AS (
     UPDATE parties SET display_name = $2, state = $3, public_key = $4, public_key_signature = $5,
            public_key_algorithm = $6, public_key_certificate = $7, protocols = $8, availability_start = $9,
            availability_end = $10, version = $11, update_time = $12
      WHERE name = $1 AND version = $11 - 1 RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM p), 1)`,
);

export function saveParty(tx: Transaction, party: PartyRecord): void {
  tx.last(UPDATE, [...values(party), party.updateTime]);
}

const SET_PUBLIC_KEY = sql(
  'party_set_public_key',
  `UPDATE parties SET public_key = $2, public_key_signature = $3, public_key_certificate = $4 WHERE name = $1`,
);

/** For demo parties, which get their keys before anyone could have read the party. */
export async function setPublicKey(
  db: Queryable,
  party: string,
  key: { message: Uint8Array; signature: Uint8Array; certificate: string },
): Promise<void> {
  await db.query(SET_PUBLIC_KEY, [party, key.message, key.signature, key.certificate]);
}

function values(p: PartyRecord): unknown[] {
  return [
    p.name,
    p.displayName,
    p.state,
    p.publicKey?.message,
    p.publicKey?.signature,
    p.publicKey?.signatureAlgorithm,
    p.publicKeyCertificate,
    p.protocols,
    p.availability?.startTime,
    p.availability?.endTime,
    p.version,
  ];
}

function partyOf(row: Row): PartyWithCertificate {
  return {
    name: row.name,
    displayName: row.display_name,
    state: row.state,
    publicKey:
      row.public_key === null
        ? undefined
        : {
            message: row.public_key,
            signature: row.public_key_signature,
            signatureAlgorithm: row.public_key_algorithm ?? undefined,
          },
    publicKeyCertificate: row.public_key_certificate ?? undefined,
    protocols: row.protocols as Protocol[],
    availability:
      row.availability_start === null
        ? undefined
        : { startTime: row.availability_start, endTime: row.availability_end ?? undefined },
    version: row.version,
    createTime: row.create_time,
    updateTime: row.update_time,
    certificate: row.certificate ?? undefined,
  };
}
