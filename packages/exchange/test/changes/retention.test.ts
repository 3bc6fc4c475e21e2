/**
 * Tests that old changes are removed from the log, and that the log records the position up to which they were removed.
 */
import { timestampOf } from '@measurement-exchange/contract';
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readChanges } from '../../src/database/changes.ts';
import { Database } from '../../src/database/db.ts';
import { removeOldChanges } from '../../src/jobs/changes.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = new Database({ connection: { connectionString: database.url }, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const clock = () => timestampOf(Date.now());
/** Appends one change for each element of `days`, in this order. An element is the age of the change in days. */
const append = (party: string, days: number[]) =>
  database.query(
    `INSERT INTO changes (party, name, kind, version, time)
     SELECT $1, $1, 'PARTY', n, now() - days * interval '1 day' FROM unnest($2::int[]) WITH ORDINALITY AS d(days, n)`,
    [party, days],
  );
const versions = async (party: string) =>
  (await readChanges(db, party, 'OLDEST', 1000))!.changes.map(({ change }) => change.version);

it('removes old changes of every party, and expires the positions before the removed changes', async () => {
  const [one, other] = ['dataProviders/a', 'dataProviders/b'];
  await append(one, [9, 8, 6, 1]);
  await append(other, [2]);
  await append('dataProviders/c', [30, 20]);
  // Poll, because transactions of other tests on this server may delay changes.
  await expect.poll(async () => (await versions('dataProviders/c')).length, { timeout: 20_000 }).toBe(2);
  const first = (await readChanges(db, one, 'OLDEST', 1))!.next;
  const second = (await readChanges(db, one, first, 1))!.next;
  await removeOldChanges({ db, clock }, 7);
  expect(await versions(one)).toEqual([3, 4]);
  expect(await versions(other)).toEqual([1]);
  expect(await versions('dataProviders/c')).toEqual([]);
  expect(await readChanges(db, one, first, 10)).toBeUndefined();
  // A reader at the position `second` has already read the removed changes, so this reader can continue.
  expect((await readChanges(db, one, second, 10))!.changes).toHaveLength(2);
  expect(await removeOldChanges({ db, clock }, 7)).toBe(false);
});

it('returns true after a full batch of one or many parties, and false if nothing can be removed yet', async () => {
  const readable = (party: string, count: number) =>
    expect.poll(async () => (await versions(party)).length, { timeout: 20_000 }).toBe(count);
  const remove = () => removeOldChanges({ db, clock }, 7);
  await append('dataProviders/d', Array(1_001).fill(9));
  await readable('dataProviders/d', 1_000);
  expect([await remove(), await remove()]).toEqual([true, false]);
  expect(await versions('dataProviders/d')).toEqual([]);

  const many = Array.from({ length: 101 }, (_, i) => `dataProviders/e${String(i).padStart(3, '0')}`);
  const appendMany = () =>
    database.query(
      `INSERT INTO changes (party, name, kind, version, time)
       SELECT party, party, 'PARTY', 1, now() - interval '9 days' FROM unnest($1::text[]) AS party`,
      [many],
    );
  await appendMany();
  await readable(many[0]!, 1);
  expect([await remove(), await remove()]).toEqual([true, false]);
  expect((await Promise.all(many.map(versions))).flat()).toEqual([]);

  const holder = await db.pool.connect();
  await holder.query('BEGIN; SELECT pg_current_xact_id()');
  await appendMany();
  expect(await remove()).toBe(false);
  await holder.query('ROLLBACK');
  holder.release();
});

it('rejects other statements that delete or update changes', async () => {
  await expect(database.query('DELETE FROM changes')).rejects.toThrow(/changes is append-only/);
  await expect(database.query('UPDATE changes SET version = 2')).rejects.toThrow(/changes is append-only/);
});
