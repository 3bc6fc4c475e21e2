/**
 * Tests that a certificate is valid from its first to its last moment, both included, and that it counts as expiring in
 * its last 30 days. Covers the TypeScript rules and the SQL statements.
 */
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  countExpiring,
  getCertificate,
  getPreferredCertificate,
  usableCertificates,
} from '../../src/database/certificates.ts';
import { Database } from '../../src/database/db.ts';
import { EXPIRING_DAYS, expiresIn, whyUnusable } from '../../src/domain/certificate.ts';

const PARTY = 'dataProviders/tv';
const [NOT_BEFORE, NOT_AFTER] = ['2026-03-01T00:00:00.000000Z', '2026-05-01T00:00:00.000000Z'];

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = new Database({ connection: { connectionString: database.url }, applicationName: 'test' });
  await database.query(
    `INSERT INTO parties (name, create_time, update_time) VALUES ('${PARTY}', now(), now())`,
  );
  // The second certificate is valid in a later period. It is preferred whenever the first one is not valid.
  for (const [id, from, to] of [
    ['first', NOT_BEFORE, NOT_AFTER],
    ['other', '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z'],
  ]) {
    await database.query(
      `INSERT INTO certificates (party, id, x509_der, subject_key_identifier, not_before, not_after, create_time)
       VALUES ('${PARTY}', $1, sha256(convert_to($1, 'UTF8')), '\\x01', $2, $3, now())`,
      [id, from, to],
    );
  }
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

describe.each([
  ['a microsecond before notBefore', '2026-02-28T23:59:59.999999Z', false],
  ['at notBefore', NOT_BEFORE, true],
  ['at notAfter', NOT_AFTER, true],
  ['a microsecond after notAfter', '2026-05-01T00:00:00.000001Z', false],
])('a certificate %s', (_title, now, isValid) => {
  it(`is ${isValid ? '' : 'not '}usable`, async () => {
    const certificate = (await getCertificate(db, PARTY, 'first'))!;
    expect(whyUnusable(certificate, now) === undefined).toBe(isValid);
    expect((await usableCertificates(db, PARTY, now)).map(({ id }) => id)).toEqual(isValid ? ['first'] : []);
  });

  it(`is ${isValid ? '' : 'not '}the preferred certificate`, async () => {
    expect((await getPreferredCertificate(db, PARTY, now))!.id).toBe(isValid ? 'first' : 'other');
  });
});

it.each([
  ['30 days and 1 s', '2026-03-31T23:59:59.000000Z', false],
  ['30 days', '2026-04-01T00:00:00.000000Z', true],
  ['0 s', NOT_AFTER, true],
  ['-1 s', '2026-05-01T00:00:01.000000Z', false],
])('counts a certificate as expiring only in its last 30 days: %s left at %s', async (_left, now, isSoon) => {
  const certificate = (await getCertificate(db, PARTY, 'first'))!;
  expect(expiresIn(certificate, now) !== undefined).toBe(isSoon);
  const counts = await countExpiring(db, now, EXPIRING_DAYS);
  expect(counts.get('dataProviders')?.n ?? 0).toBe(isSoon ? 1 : 0);
});
