/** Tests the doctor of a duchy: it reports each defect of a database and reports nothing for a healthy database. */
import { randomBytes } from 'node:crypto';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineDuchy } from '../../src/database/doctor.ts';
import {
  createComputation,
  durabilityProblems,
  endComputation,
  removeBlobs,
  requireOwnDatabase,
  storeMessage,
  storeUpload,
  writeBlob,
} from '../../src/database/index.ts';
import { makeComputation } from '../view.ts';

const about = {
  role: 'FIRST_WORKER',
  protocol: 'honestMajorityShareShuffle',
  stage: 'SETUP_PHASE',
} as const;
async function* source() {
  yield randomBytes(100);
}

let database: DuchyDatabase;
beforeAll(async () => {
  database = await createDuchyDatabase();
  const { id, view, spec } = await makeComputation('c1', 'duchies/alpha');
  const secrets = { randomSeed: randomBytes(48) };
  const { db } = database;
  await createComputation(db, { ...about, id, view, spec, registerCount: 10, runAfter: new Date(), secrets });
  const blob = await writeBlob(db, id, source());
  const { name, dataProvider } = view.requisitions[0]!;
  await db.tx('test', (tx) =>
    storeUpload(tx, {
      requisition: name,
      computation: id,
      dataProvider,
      certificate: `${dataProvider}/certificates/1`,
      nonce: 1n,
      registerCount: 10,
      secretSeed: randomBytes(5),
      signedFulfillment: randomBytes(5),
      blob: blob.id,
    }),
  );
});
afterAll(() => database.drop());

const ALPHA = 'duchies/alpha';
const examine = async (secretsKey = database.secretsKey, duchy = ALPHA) => {
  const problems = await examineDuchy({ connectionString: database.url }, { duchy, secretsKey });
  return problems.map(({ check }) => check);
};

/** Runs a statement with the triggers and foreign keys switched off, so that it can damage the data. */
async function spoil(statement: string): Promise<void> {
  await database.query(
    `SET session_replication_role = replica; ${statement}; SET session_replication_role = origin`,
  );
}

test('a healthy database has no findings', async () => {
  expect(await examine()).toEqual([]);
  expect(await durabilityProblems(database.db)).toEqual([]);
});

test.each([
  ['PostgreSQL 14 is not tested', { major: 14 }],
  ['PostgreSQL 19 is not tested', { major: 19 }],
  ['The encoding of the database is SQL_ASCII', { encoding: 'SQL_ASCII' }],
  ['The database is a standby', { standby: true }],
  ['fsync is off', { fsync: 'off' }],
  ['full_page_writes is off', { pages: 'off' }],
  ['synchronous_commit is local', { commit: 'local' }],
])('durabilityProblems reports: %s', async (problem, change) => {
  const sound = { fsync: 'on', pages: 'on', commit: 'on', standby: false, encoding: 'UTF8', major: 17 };
  const db = { query: async () => [{ ...sound, ...change }] };
  expect(await durabilityProblems(db as never)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  [
    'stages nobody takes',
    "UPDATE computations SET run_after = now() - interval '1 hour'",
    'UPDATE computations SET run_after = now()',
  ],
  ['stages that fail', 'UPDATE computations SET attempt = 5', 'UPDATE computations SET attempt = 0'],
  [
    'uploads not reported',
    "UPDATE uploads SET create_time = now() - interval '1 hour'",
    'UPDATE uploads SET create_time = now()',
  ],
  ['blobs lack bytes', 'UPDATE blobs SET length = length + 1', 'UPDATE blobs SET length = length - 1'],
  [
    'incomplete blobs are in use',
    'UPDATE blobs SET complete_time = NULL',
    'UPDATE blobs SET complete_time = now()',
  ],
  [
    'rows of another computation',
    "UPDATE uploads SET computation = 'other'",
    "UPDATE uploads SET computation = 'c1'",
  ],
  [
    'removed computations are back',
    "INSERT INTO removed_computations (id) VALUES ('c1')",
    'DELETE FROM removed_computations',
  ],
])('examineDuchy reports %s, and nothing after the repair', async (check, statement, undo) => {
  await spoil(statement);
  expect(await examine()).toEqual([check]);
  await spoil(undo);
  expect(await examine()).toEqual([]);
});

test('examineDuchy reports keys and chunks that are left two hours after the end of a computation', async () => {
  const id = 'ended';
  const { view, spec } = await makeComputation(id, 'duchies/alpha');
  await createComputation(database.db, { ...about, id, view, spec, registerCount: 10 });
  const { id: blob } = await writeBlob(database.db, id, source());
  const message = { computation: id, stage: 'SEEDS', direction: 'IN', peer: 'duchies/beta' } as const;
  await database.db.tx('test', (tx) =>
    storeMessage(tx, { ...message, certificate: 'c', signedMessage: randomBytes(5), blob }),
  );
  await endComputation(database.db, id, { outcome: 'FAILED', keepsBlobs: true });
  // A computation that ended after several attempts is not reported.
  await spoil(`UPDATE computations SET attempt = 5 WHERE id = '${id}'`);
  expect(await examine()).toEqual([]);
  const old = `UPDATE computations SET update_time = now() - interval '2 hours' WHERE id = '${id}'`;
  await spoil(`${old}; UPDATE blobs SET removed_time = now() WHERE id = '${blob}'`);
  expect(await examine()).toEqual(['keys outlive their blobs']);
  await spoil(`UPDATE blobs SET removed_time = NULL WHERE id = '${blob}'`);
  expect(await examine()).toEqual([]);
  await spoil(`UPDATE computations SET blob_key = NULL WHERE id = '${id}'`);
  expect(await examine()).toEqual(['chunks of ended computations']);
  await removeBlobs(database.db, 1, 600);
  expect(await examine()).toEqual([]);
});

test('examineDuchy reports secrets that do not open with another key', async () => {
  expect(await examine(randomBytes(32))).toEqual(['secrets do not open']);
});

test('examineDuchy rejects a database that no duchy has used', async () => {
  await database.query('CREATE SCHEMA empty');
  const connectionString = `${database.url}${database.url.includes('?') ? '&' : '?'}options=-csearch_path%3Dempty`;
  const { secretsKey } = database;
  await expect(examineDuchy({ connectionString }, { duchy: ALPHA, secretsKey })).rejects.toThrow(
    /No duchy has used/,
  );
});

test('examineDuchy rejects the database of another duchy, or another secrets key', async () => {
  await requireOwnDatabase(database.db, ALPHA);
  await expect(examine(database.secretsKey, 'duchies/beta')).rejects.toThrow(/belongs to duchies\/alpha/);
  await expect(examine(randomBytes(32))).rejects.toThrow(/secretsKeyFile is not the key/);
});
