import type { Timestamp } from '@measurement-exchange/contract';
import { partyChange } from '../domain/changes.ts';
import type { PartyRecord } from '../domain/party.ts';
import { preference } from './certificates.ts';
import { type Cursor, pageRow } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, except, type Fields, optional, optionalGroup, select, table } from './table.ts';
import { insertVersion, saveVersion } from './versions.ts';

export type PartyWithCertificate = PartyRecord & { preferredCertificate: string | undefined };

const FIELDS: Fields<PartyRecord> = {
  name: column('name'),
  displayName: column('display_name'),
  state: column('state'),
  publicKey: optionalGroup('public_key', {
    message: column('public_key', 'bytes'),
    signature: column('public_key_signature', 'bytes'),
    signatureAlgorithm: optional('public_key_algorithm'),
  }),
  publicKeyCertificate: optional('public_key_certificate'),
  protocols: column('protocols', 'texts'),
  availability: optionalGroup('availability_start', {
    startTime: column('availability_start', 'time'),
    endTime: optional('availability_end', 'time'),
  }),
  modelLineAvailability: optional('model_line_availability', 'jsonText'),
  endpoint: optional('endpoint'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
};
const parties = table<PartyRecord>('parties', FIELDS);
const withCertificate = table<PartyWithCertificate>('parties', {
  ...FIELDS,
  preferredCertificate: optional('preferred_certificate'),
}).reader();

/** `$1` is the current time. */
const WITH_CERTIFICATE = `${select(parties, 'p')},
  (SELECT id FROM certificates WHERE party = p.name ORDER BY ${preference('$1')} LIMIT 1) AS preferred_certificate`;

export const getParties = read.byKey(
  ({ name }: PartyRecord) => name,
  (names: string[]) => [names],
  'party_get_many',
  `SELECT ${select(parties)} FROM parties WHERE name = ANY($1)`,
  parties.reader(),
);

export const getParty = read.first(
  (name: string, now: Timestamp) => [now, name],
  'party_get',
  `SELECT ${WITH_CERTIFICATE} FROM parties p WHERE p.name = $2`,
  withCertificate,
);

export const partyExists = read.exists(
  (name: string) => [name],
  'party_exists',
  'SELECT 1 FROM parties WHERE name = $1',
);

export const lockParty = inTransaction.first(
  (name: string, now: Timestamp) => [now, name],
  'party_lock',
  // Use FOR NO KEY UPDATE, because FOR UPDATE would also block inserts of rows that refer to the party.
  `SELECT ${WITH_CERTIFICATE} FROM parties p WHERE p.name = $2 FOR NO KEY UPDATE`,
  withCertificate,
);

export const listParties = read.page(
  (collection: string, after: Cursor, limit: number, now: Timestamp) => [
    ...[now, collection, after.time, after.id, limit],
  ],
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
  pageRow(withCertificate),
);

export const insertParty = insertVersion('party_insert', parties, (party) => [partyChange(party)]);

export const saveParty = saveVersion(
  'party_update',
  parties,
  ['name'],
  except(parties, 'name', 'createTime'),
  (party) => [partyChange(party)],
);

/**
 * Sets a demo party's key. Does not create a new version of the party, because usually the party was just created and
 * nobody has read it yet.
 */
export const setPublicKey = read.done(
  (party: string, key: { message: Uint8Array; signature: Uint8Array; certificate: string }) => [
    ...[party, key.message, key.signature, key.certificate],
  ],
  'party_set_public_key',
  `UPDATE parties SET public_key = $2, public_key_signature = $3, public_key_certificate = $4 WHERE name = $1`,
);
