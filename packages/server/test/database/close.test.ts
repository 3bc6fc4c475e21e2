import { createDuchyDatabase } from '@measurement-exchange/testkit/duchy';
import pg from 'pg';
import { expect, test } from 'vitest';
import { Database } from '../../src/database/index.ts';

test('close() resolves after the server has closed all connections', async () => {
  const database = await createDuchyDatabase();
  const db = new Database(
    { connection: { connectionString: database.url }, applicationName: 'closing' },
    {
      ...{ settings: [], types: pg.types, maxConnections: 8 },
      ...{ acquireMs: 2_000, idleMs: 60_000, deadlineMs: 8_000 },
    },
  );
  const sleeps = { name: 'sleeps', text: 'SELECT pg_sleep(0.1)' };
  const open = () => database.query(`SELECT FROM pg_stat_activity WHERE application_name = 'closing'`);
  await Promise.all(Array.from({ length: 8 }, () => db.query(sleeps, [])));
  expect((await open()).length).toBe(8);
  await db.close();
  expect(await open()).toEqual([]);
  await database.drop();
});
