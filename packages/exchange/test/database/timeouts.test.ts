/** Tests how long a request waits for the database before it fails. */
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Database, type Transaction } from '../../src/database/db.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createDatabase();
  const connection = { connectionString: database.url };
  db = new Database({ connection, applicationName: 'test', maxConnections: 1 });
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const statement = (name: string, text: string) => ({ name: `test_${name}`, text });

it.each([
  ['lock_timeout', '2000'],
  ['statement_timeout', '5000'],
  ['idle_in_transaction_session_timeout', '10000'],
  ['TimeZone', 'UTC'],
  ['DateStyle', 'ISO, MDY'],
])('%s of a session is %s', async (name, setting) => {
  const read = statement('setting', 'SELECT setting FROM pg_settings WHERE name = $1');
  expect(await db.query(read, [name])).toEqual([{ setting }]);
});

/** Reduces a time limit of the session to 20 ms for this transaction. */
const soon = (tx: Transaction, name: string) =>
  tx.query(statement('soon', `SELECT set_config($1, '20', true)`), [name]);

it('a statement that waits too long for a lock fails with UNAVAILABLE', async () => {
  await database.query('CREATE TABLE held ()');
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE held');
  const waiting = db.tx('test', async (tx) => {
    await soon(tx, 'lock_timeout');
    await tx.query(statement('lock', 'LOCK TABLE held'), []);
  });
  await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
  await holder.end();
});

it('a statement that runs too long fails with DEADLINE_EXCEEDED', async () => {
  const slow = db.tx('test', async (tx) => {
    await soon(tx, 'statement_timeout');
    await tx.query(statement('sleep', 'SELECT pg_sleep(5)'), []);
  });
  await expect(slow).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
});

/** Expects that `work` fails after exactly this time, to the millisecond. */
async function expectAt(ms: number, work: () => Promise<unknown>, error: object): Promise<void> {
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isOver = false;
  const ended = work().finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  await turns();
  vi.advanceTimersByTime(ms - 1);
  await turns();
  expect(isOver).toBe(false);
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await expect(ended).rejects.toMatchObject(error);
}

it.each([
  ['can commit after 7.999 s', 7_999, 'committed'],
  ['fails with DEADLINE_EXCEEDED after 8 s, even if each statement is fast', 8_000, 'DEADLINE_EXCEEDED'],
])('a transaction %s', async (_title, ms, outcome) => {
  await db.query(statement('one', 'SELECT 1'), []);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const work = db.tx('test', async (tx) => {
    await tx.query(statement('one', 'SELECT 1'), []);
    // Let the time pass between two statements, because a running statement would reach its own limit first.
    vi.advanceTimersByTime(ms);
    await tx.query(statement('one', 'SELECT 1'), []);
    return 'committed';
  });
  expect(await work.catch(({ code }) => code)).toBe(outcome);
});

it('a statement outside of a transaction fails with DEADLINE_EXCEEDED after 8 s without a response', async () => {
  await db.query(statement('one', 'SELECT 1'), []);
  const silent = () => db.query(statement('silent', 'SELECT pg_sleep(1)'), []);
  await expectAt(8_000, silent, { code: 'DEADLINE_EXCEEDED' });
});

it('a statement that gets no connection fails with UNAVAILABLE after 2 s', async () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.tx('test', () => {
    begun.resolve();
    return ended.promise;
  });
  await begun.promise;
  await expectAt(2_000, () => db.query(statement('one', 'SELECT 1'), []), { code: 'UNAVAILABLE' });
  ended.resolve();
  await holding;
});
