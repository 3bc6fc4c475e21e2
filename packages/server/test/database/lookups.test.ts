import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Lookups } from '../../src/database/lookups.ts';
import type { Statement } from '../../src/database/roundTrip.ts';

let database: DuchyDatabase;
let pool: pg.Pool;
let lookups: Lookups;
beforeAll(async () => {
  database = await createDuchyDatabase();
});
beforeEach(async () => {
  pool = new pg.Pool({ connectionString: database.url, pipeline: true } as pg.PoolConfig);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  lookups = new Lookups(pool);
});
afterAll(() => database.drop());

const PROCESS: Statement = { name: 'process', text: 'SELECT pg_backend_pid() AS pid, $1::int AS n' };
const QUOTIENT = { name: 'quotient', text: 'SELECT 12 / $1::int AS n' };
const END = { name: 'end', text: 'SELECT pg_terminate_backend($1::int), pg_sleep(10)' };

test('lookups of one turn share a connection, eight at most, and each gets its own rows', async () => {
  const rows = await Promise.all(Array.from({ length: 17 }, (_, n) => lookups.query(PROCESS, [n])));
  expect(rows.map(([row]) => row!.n)).toEqual(Array.from({ length: 17 }, (_, n) => n));
  const processes = rows.map(([row]) => row!.pid);
  const [first, second, third] = [processes[0], processes[8], processes[16]];
  expect(new Set([first, second, third]).size).toBe(3);
  expect(processes).toEqual([...Array(8).fill(first), ...Array(8).fill(second), third]);
  // A caller gets its rows a moment before the connection is free.
  await expect.poll(() => pool.idleCount).toBe(3);
  await pool.end();
});

test('one that fails fails alone', async () => {
  const settled = await Promise.allSettled([3, 0, 4].map((n) => lookups.query(QUOTIENT, [n])));
  expect(settled).toMatchObject([
    { status: 'fulfilled', value: [{ n: 4 }] },
    { status: 'rejected', reason: { code: '22012' } },
    { status: 'fulfilled', value: [{ n: 3 }] },
  ]);
  await pool.end();
});

test('a connection that breaks fails what it carried, and is not used again', async () => {
  const [row] = await lookups.query(PROCESS, [0]);
  const broken = await Promise.allSettled([
    lookups.query(END, [row!.pid]),
    lookups.query(PROCESS, [1]),
    lookups.query(PROCESS, [2]),
  ]);
  expect(broken.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  const [after] = await lookups.query(PROCESS, [3]);
  expect(after!.n).toBe(3);
  expect(after!.pid).not.toBe(row!.pid);
  await pool.end();
});

test('where there is no connection, each of them fails', async () => {
  await pool.end();
  const settled = await Promise.allSettled([lookups.query(PROCESS, [0]), lookups.query(PROCESS, [1])]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
