import { ExchangeError } from '@measurement-exchange/contract';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Database, type SessionOptions, type Transaction } from '../../src/database/index.ts';

const SESSION: SessionOptions = {
  ...{ settings: ['TimeZone=UTC'], types: pg.types, maxConnections: 1 },
  ...{ acquireMs: 2_000, idleMs: 60_000, deadlineMs: 8_000 },
};

let database: DuchyDatabase;
let db: Database;

beforeAll(async () => {
  database = await createDuchyDatabase();
  // SESSION allows only one connection. Every transaction therefore sees the session state that the previous
  // transaction left behind.
  const connection = { connectionString: database.url };
  db = new Database({ connection, applicationName: 'test' }, SESSION);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const read = { name: 'test_read', text: 'SELECT 1' };

function failing(name: string, sqlState: string, condition = 'true') {
  const text = `DO $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'no' USING ERRCODE = '${sqlState}'; END IF; END $$`;
  return { name, text };
}

/**
 * Sends `first` and then `read` in one pipeline, and awaits `read` before `first`. The same happens when code starts a
 * query and awaits a later query first.
 */
async function both(tx: Transaction, first: { name: string; text: string }): Promise<void> {
  const before = tx.query(first, []);
  before.catch(() => {});
  await tx.query(read, []);
  await before;
}

describe('a transaction whose pipelined statement fails', () => {
  test('fails with the error of that statement, and not with the error of an aborted transaction', async () => {
    const lockTimeout = failing('test_lock', '55P03');
    await expect(db.tx('test', (tx) => both(tx, lockTimeout))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('is retried if the error of that statement is retryable', async () => {
    await database.query('CREATE SEQUENCE attempts');
    const deadlock = failing('test_deadlock', '40P01', "nextval('attempts') < 3");
    await db.tx('test', (tx) => both(tx, deadlock));
    expect(await database.query('SELECT last_value FROM attempts')).toEqual([{ last_value: '3' }]);
  });

  test('fails with the error of that statement even if another was sent separately after it', async () => {
    const work = async (tx: Transaction) => {
      const before = tx.query(failing('test_before', '55P03'), []);
      before.catch(() => {});
      await new Promise(setImmediate);
      await tx.query(read, []);
      await before;
    };
    await expect(db.tx('test', work)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  const own = failing('test_own', 'P0001');
  const waysToFail: [string, (tx: Transaction) => Promise<unknown>][] = [
    ['with a statement that is awaited', (tx) => both(tx, own)],
    ['with the statement before its COMMIT', async (tx) => tx.last(own, [])],
    [
      'with the statement before a COMMIT that is sent early',
      async (tx) => {
        tx.last(own, []);
        tx.commit();
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    ],
    [
      'with a statement that is not awaited, long before its COMMIT',
      async (tx) => {
        tx.last(own, []);
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    ],
  ];
  for (const [how, fail] of waysToFail) {
    test(`stores nothing and leaves the connection usable if it fails ${how}`, async () => {
      await database.query('CREATE TABLE IF NOT EXISTS kept (n int); TRUNCATE kept');
      const keep = { name: 'test_keep', text: 'INSERT INTO kept VALUES ($1)' };
      const pid = () => db.query({ name: 'test_pid', text: 'SELECT pg_backend_pid() AS pid' }, []);
      const before = await pid();
      const work = async (tx: Transaction) => {
        await tx.query(keep, [1]);
        await fail(tx);
      };
      await expect(db.tx('test', work)).rejects.toThrow('no');
      await db.tx('test', async (tx) => tx.last(keep, [2]));
      expect(await database.query('SELECT n FROM kept')).toEqual([{ n: 2 }]);
      expect(await pid()).toEqual(before);
    });
  }
});

describe('the metrics of a transaction', () => {
  const told: [name: string, outcome: string, seconds: number][] = [];
  const retried: string[] = [];
  let observed: Database;
  beforeAll(() => {
    const observer = {
      transaction: (...args: (typeof told)[number]) => told.push(args),
      retry: (name: string) => retried.push(name),
    };
    const connection = { connectionString: database.url };
    observed = new Database({ connection, applicationName: 'test', observer }, SESSION);
  });
  afterAll(() => observed.close());

  test('report the outcome of each transaction, and its duration in seconds', async () => {
    const sleeping = { name: 'test_sleep', text: 'SELECT pg_sleep(0.1)' };
    await observed.tx('slow', (tx) => tx.query(sleeping, []));
    await observed.tx('undone', async (tx) => tx.rollback());
    const rejected = new ExchangeError('MEASUREMENT_NOT_FOUND', 'None.');
    await expect(observed.tx('rejected', () => Promise.reject(rejected))).rejects.toBe(rejected);
    await expect(
      observed.tx('failed', async (tx) => tx.last(failing('test_failed', 'P0001'), [])),
    ).rejects.toThrow();
    expect(told.map(([name, outcome]) => `${name} ${outcome}`)).toEqual([
      ...['slow committed', 'undone rolledBack', 'rejected rolledBack', 'failed failed'],
    ]);
    const [[, , seconds]] = told as [(typeof told)[number]];
    expect(seconds).toBeGreaterThanOrEqual(0.1);
    expect(seconds).toBeLessThan(60);
    expect(retried).toEqual([]);
  });

  test('count its retries: four if every attempt fails', async () => {
    const deadlock = failing('test_always', '40P01');
    await expect(observed.tx('again', (tx) => both(tx, deadlock))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(retried).toEqual(Array(4).fill('again'));
    expect(told.filter(([name]) => name === 'again')).toHaveLength(1);
  });
});

describe('a COMMIT', () => {
  beforeAll(async () => {
    // Create a trigger that raises a warning or a notice during COMMIT. PostgreSQL itself raises a warning during
    // COMMIT if the wait for a synchronous standby is canceled.
    await database.query(`
      CREATE TABLE told (how text);
      CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.how = 'warning' THEN RAISE WARNING 'told'; ELSE RAISE NOTICE 'told'; END IF;
          IF NEW.how = 'slowly' THEN PERFORM pg_sleep(2); END IF;
          RETURN NULL;
        END $$;
      CREATE CONSTRAINT TRIGGER tell AFTER INSERT ON told DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION tell()`);
  });

  const TELL = { name: 'test_tell', text: 'INSERT INTO told VALUES ($1)' };
  const tell = (how: string) => db.tx('test', (tx) => tx.query(TELL, [how]));

  test('that ends with a warning is rejected with DEADLINE_EXCEEDED, because its outcome is unknown', async () => {
    await expect(tell('warning')).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await database.query('SELECT how FROM told')).toEqual([{ how: 'warning' }]);
  });

  test('that is sent early runs during the remaining work, and is complete when the transaction returns', async () => {
    const told = () => database.query("SELECT how FROM told WHERE how = 'slowly'");
    const committing = () =>
      database.query(
        `SELECT 1 FROM pg_stat_activity
          WHERE query = 'COMMIT' AND state = 'active' AND datname = current_database()`,
      );
    await db.tx('test', async (tx) => {
      tx.last(TELL, ['slowly']);
      tx.commit();
      await vi.waitFor(async () => expect(await committing()).toHaveLength(1), {
        interval: 5,
        timeout: 30_000,
      });
      expect(await told()).toEqual([]);
    });
    expect(await told()).toEqual([{ how: 'slowly' }]);
  });

  test('that ends with only a notice succeeds, even on a connection that had a warning before', async () => {
    await tell('notice');
    await tell('notice');
    expect(await database.query("SELECT how FROM told WHERE how = 'notice'")).toHaveLength(2);
  });
});
