import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Client } from '../../src/database/client.ts';
import { Lookups } from '../../src/database/lookups.ts';
import type { Statement } from '../../src/database/roundTrip.ts';

let database: DuchyDatabase;
let pool: pg.Pool;
let lookups: Lookups;
beforeAll(async () => {
  database = await createDuchyDatabase();
});
beforeEach(async () => {
  pool = new pg.Pool({ connectionString: database.url, Client, pipeline: true } as pg.PoolConfig);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  lookups = new Lookups(pool);
});
afterAll(() => database.drop());

const PROCESS: Statement = { name: 'process', text: 'SELECT pg_backend_pid() AS pid, $1::int AS n' };
const QUOTIENT = { name: 'quotient', text: 'SELECT 12 / $1::int AS n' };
const END = { name: 'end', text: 'SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(10)' };
type Row = Record<string, unknown>;

test('the first lookup of a turn has its own connection, and the others share connections, at most eight on each', async () => {
  const rows = await Promise.all(Array.from({ length: 17 }, (_, n) => lookups.query(PROCESS, [n])));
  expect(rows.map(([row]) => row!.n)).toEqual(Array.from({ length: 17 }, (_, n) => n));
  const processes = rows.map(([row]) => row!.pid);
  const [first, second, third] = [processes[0], processes[1], processes[9]];
  expect(new Set([first, second, third]).size).toBe(3);
  expect(processes).toEqual([first, ...Array(8).fill(second), ...Array(8).fill(third)]);
  // Poll, because a caller gets its rows shortly before the connection returns to the pool.
  await expect.poll(() => pool.idleCount).toBe(3);
  await pool.end();
});

test('a failed lookup does not fail the other lookups on its connection', async () => {
  const first = lookups.query(PROCESS, [0]);
  const settled = await Promise.allSettled([3, 0, 4].map((n) => lookups.query(QUOTIENT, [n])));
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: [{ n: 4 }] },
    { status: 'rejected', reason: { code: '22012' } },
    { status: 'fulfilled', value: [{ n: 3 }] },
  ]);
  await first;
  await pool.end();
});

test('a connection that breaks fails the lookups without a result, and is not used again', async () => {
  const alone = lookups.query(PROCESS, [0]);
  const [before, end, behind] = await Promise.allSettled([
    lookups.query(PROCESS, [1]),
    lookups.query(END, []),
    lookups.query(PROCESS, [2]),
  ]);
  expect([end.status, behind.status]).toEqual(['rejected', 'rejected']);
  await alone;
  const after = await Promise.all([3, 4, 5].map((n) => lookups.query(PROCESS, [n])));
  expect(after.map(([row]) => row!.n)).toEqual([3, 4, 5]);
  const [{ pid }] = (before as PromiseFulfilledResult<Row[]>).value as [Row];
  expect(after.map(([row]) => row!.pid)).not.toContain(pid);
  await pool.end();
});

test('every lookup is rejected if there is no connection', async () => {
  await pool.end();
  const settled = await Promise.allSettled([lookups.query(PROCESS, [0]), lookups.query(PROCESS, [1])]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
