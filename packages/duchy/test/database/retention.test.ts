/** Tests that ended computations are removed after their retention time, completely and permanently. */
import { randomBytes } from 'node:crypto';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createComputation,
  type Database,
  endComputation,
  removeBlobs,
  removeComputations,
  storeMessage,
  storeUpload,
  writeBlob,
} from '../../src/database/index.ts';
import { makeComputation, type TestComputation } from '../view.ts';

let database: DuchyDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDuchyDatabase();
  db = database.db;
});
afterAll(() => database.drop());

let made = 0;
const create = ({ id, view, spec }: TestComputation) =>
  createComputation(db, {
    role: 'FIRST_WORKER',
    protocol: 'honestMajorityShareShuffle',
    stage: 'WAIT_TO_START',
    ...{ id, view, spec, registerCount: 10, secrets: { noiseSeed: randomBytes(48) } },
  });

/** Creates a computation with an upload and a message. */
async function pending(): Promise<TestComputation> {
  const computation = await makeComputation(`c${++made}`, 'duchies/alpha');
  const { id, view } = computation;
  await create(computation);
  const source = async function* () {
    yield randomBytes(10);
  };
  const { name: requisition, dataProvider } = view.requisitions[0]!;
  const upload = {
    ...{ requisition, computation: id, dataProvider, certificate: 'c', nonce: 1n, registerCount: 10 },
    ...{ secretSeed: randomBytes(5), signedFulfillment: randomBytes(5) },
    blob: (await writeBlob(db, id, source())).id,
  };
  const message = {
    ...{ computation: id, stage: 'SEEDS', peer: 'duchies/beta', certificate: 'c' },
    direction: 'IN',
    signedMessage: randomBytes(5),
    blob: (await writeBlob(db, id, source())).id,
  } as const;
  expect(await db.tx('test', (tx) => storeUpload(tx, upload))).toBe(true);
  expect(await db.tx('test', (tx) => storeMessage(tx, message))).toBe(true);
  return computation;
}

/** Creates a computation that ended this many days ago. */
async function ended(days: number): Promise<TestComputation> {
  const computation = await pending();
  await endComputation(db, computation.id, { outcome: 'SUCCEEDED', keepsBlobs: true });
  await database.query(
    `SET session_replication_role = replica;
     UPDATE computations SET update_time = now() - interval '${days} days' WHERE id = '${computation.id}';
     SET session_replication_role = origin`,
  );
  return computation;
}

const KEYS = {
  computations: 'id',
  requisitions: 'computation',
  uploads: 'computation',
  messages: 'computation',
  blobs: 'computation',
};
async function rowsOf({ id }: TestComputation): Promise<Record<string, unknown>> {
  const counts = Object.entries(KEYS).map(
    ([table, key]) => `(SELECT count(*) FROM ${table} WHERE ${key} = $1)::int AS ${table}`,
  );
  return (await database.query(`SELECT ${counts.join(', ')}`, [id]))[0]!;
}
const ALL = { computations: 1, requisitions: 2, uploads: 1, messages: 1, blobs: 2 };
const NONE = { computations: 0, requisitions: 0, uploads: 0, messages: 0, blobs: 0 };

test('an ended computation is deleted with all its rows after the retention time, once its blobs are removed', async () => {
  const [old, recent] = [await ended(31), await ended(29)];
  expect(await removeComputations(db, 30)).toBe(0);
  await removeBlobs(db, 0, 600);
  expect(await removeComputations(db, 30)).toBe(1);
  expect(await rowsOf(old)).toEqual(NONE);
  expect(await rowsOf(recent)).toEqual(ALL);
});

test('the rows of a pending computation cannot be deleted', async () => {
  const computation = await pending();
  for (const [table, key] of Object.entries(KEYS)) {
    const removal = database.query(`DELETE FROM ${table} WHERE ${key} = $1`, [computation.id]);
    await expect(removal).rejects.toMatchObject({ code: expect.stringMatching(/^23/) });
  }
  await removeBlobs(db, 0, 600);
  await removeComputations(db, 1);
  expect(await rowsOf(computation)).toEqual(ALL);
});

test('removeBlobs deletes all blobs that are incomplete for an hour longer than an upload may take', async () => {
  const { id } = await pending();
  const incomplete = `SELECT count(*)::int AS count FROM blobs WHERE complete_time IS NULL`;
  await database.query(
    `INSERT INTO blobs (id, computation, create_time)
     SELECT gen_random_uuid(), $1, now() - n * interval '1 minute' FROM generate_series(20, 119) AS n`,
    [id],
  );
  expect(await removeBlobs(db, 0, 600)).toBeGreaterThanOrEqual(50);
  expect(await database.query(incomplete)).toEqual([{ count: 50 }]);
});

test('a removed computation is not created again', async () => {
  const computation = await ended(2);
  await removeBlobs(db, 0, 600);
  expect(await removeComputations(db, 1)).toBeGreaterThan(0);
  expect(await create(computation)).toBe(false);
  expect(await rowsOf(computation)).toEqual(NONE);
});

test('a failed removal changes nothing, and the next attempt succeeds', async () => {
  const computation = await ended(2);
  await removeBlobs(db, 0, 600);
  await database.query(
    `CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stopped'; END $$;
     CREATE TRIGGER stop BEFORE DELETE ON requisitions FOR EACH ROW EXECUTE FUNCTION stop()`,
  );
  await expect(removeComputations(db, 1)).rejects.toThrow('stopped');
  expect(await rowsOf(computation)).toEqual(ALL);
  expect(await database.query('SELECT FROM removed_computations WHERE id = $1', [computation.id])).toEqual(
    [],
  );
  await database.query('DROP FUNCTION stop CASCADE');
  expect(await removeComputations(db, 1)).toBe(1);
  expect(await rowsOf(computation)).toEqual(NONE);
});

test('concurrent removals delete each computation exactly once', async () => {
  for (let i = 0; i < 5; i++) await ended(2);
  await removeBlobs(db, 0, 600);
  const removed = await Promise.all([db, database.open()].map((each) => removeComputations(each, 1)));
  expect(removed[0]! + removed[1]!).toBe(5);
});
