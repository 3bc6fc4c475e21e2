/**
 * Tests the times at which parties were last seen. They are shown in steps of half a minute, and stored every 30
 * seconds and when the exchange stops.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { call, createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { Database } from '../../src/database/db.ts';
import { LastSeen } from '../../src/database/lastSeen.ts';
import { ChangeBus } from '../../src/feed/changeBus.ts';
import { Jobs } from '../../src/jobs/index.ts';
import { start } from '../../src/main.ts';
import type { Exchange } from '../../src/operations/context.ts';

const SILENT = pino({ level: 'silent' });
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Returns the stored time at which a party was last seen, in epoch milliseconds. */
async function storedTime(party: string): Promise<number | undefined> {
  const [row] = await database.query('SELECT time FROM last_seen WHERE party = $1', [party]);
  return (row?.time as Date | undefined)?.getTime();
}

it('the last-seen time is rounded down to half a minute, whether it is stored or not', () => {
  const lastSeen = new LastSeen();
  expect(lastSeen.latest('dataProviders/x', undefined)).toBeUndefined();
  const stored = '2026-11-17T12:34:29.999999Z';
  expect(lastSeen.latest('dataProviders/x', stored)).toBe('2026-11-17T12:34:00.000000Z');
  expect(lastSeen.latest('dataProviders/x', '2026-11-17T12:34:30.000000Z')).toBe(
    '2026-11-17T12:34:30.000000Z',
  );
  const before = Date.now();
  lastSeen.note('dataProviders/x');
  const after = Date.now();
  const shown = Date.parse(lastSeen.latest('dataProviders/x', stored)!);
  expect(shown % 30_000).toBe(0);
  expect(shown).toBeGreaterThan(before - 30_000);
  expect(shown).toBeLessThanOrEqual(after);
  expect(lastSeen.latest('dataProviders/x', '2100-01-01T00:00:31.000000Z')).toBe(
    '2100-01-01T00:00:30.000000Z',
  );
});

it('a job stores the last-seen times every 30 seconds', async () => {
  const db = new Database({ connection: { connectionString: database.url }, applicationName: 'test' });
  const lastSeen = new LastSeen();
  /** Functions that end a pause of 30 seconds. Only the tested job pauses for exactly this time. */
  const pauses: (() => void)[] = [];
  const original = timers.setTimeout;
  const sleep = vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value, options) => {
    if (ms !== 30_000) return original(ms, value as never, options);
    const { promise, resolve } = Promise.withResolvers<never>();
    options?.signal?.addEventListener('abort', () => resolve(undefined as never));
    pauses.push(() => resolve(undefined as never));
    return promise;
  });
  syncBuiltinESMExports();
  const bus = new ChangeBus();
  const exchange = { db, lastSeen, clock: () => new Date().toISOString(), bus } as unknown as Exchange;
  const jobs = new Jobs(exchange, loadConfig({}, { mode: 'development' }), SILENT);
  try {
    await expect.poll(() => pauses.length).toBe(1);
    for (let i = 1; i <= 2; i++) {
      const before = Date.now();
      lastSeen.note('dataProviders/job');
      expect((await storedTime('dataProviders/job')) ?? 0).toBeLessThan(before);
      await timers.setImmediate();
      pauses[i - 1]!();
      await expect.poll(() => pauses.length).toBe(i + 1);
      expect(await storedTime('dataProviders/job')).toBeGreaterThanOrEqual(before);
      await expect.poll(() => Date.now()).toBeGreaterThan(before);
    }
  } finally {
    await jobs.stop();
    sleep.mockRestore();
    syncBuiltinESMExports();
    await db.close();
  }
});

it('an exchange stores the last-seen times when it stops', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-last-seen-'));
  const config = loadConfig(
    {},
    { mode: 'development', port: 0, dataDir, databaseUrl: database.url, demoDuchies: false },
  );
  try {
    const running = await start(config, SILENT);
    const dev = JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8'));
    const [acme, globex] = dev.measurementConsumers;
    const before = Date.now();
    expect((await call(acme.token, 'GET', `${running.url}/v2alpha/whoami`)).status).toBe(200);
    const after = Date.now();
    expect(await storedTime(acme.name)).toBeUndefined();
    await running.stop();
    expect(await storedTime(acme.name)).toBeGreaterThanOrEqual(before);
    expect(await storedTime(acme.name)).toBeLessThanOrEqual(after);
    expect(await storedTime(globex.name)).toBeUndefined();
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
