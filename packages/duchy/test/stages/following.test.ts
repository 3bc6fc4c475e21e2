/** Tests that heralds follow changes at the exchange through its change feed, and poll if the feed fails. */
import { rounds } from '@measurement-exchange/testkit/rounds';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Herald } from '../../src/herald/herald.ts';
import { Mill } from '../../src/mills/mill.ts';
import { AUDIENCES, truth } from './audiences.ts';
import { openResult, reachOf } from './results.ts';
import { uploadAll } from './uploads.ts';
import { type DuchyWorld, MILL, startDuchyWorld, type TestDuchy } from './world.ts';

const HOUR_MS = 3600_000;
const SOON = { timeout: 20_000 };

let world: DuchyWorld;
let stop = new AbortController();
let running: Promise<void>[] = [];
beforeAll(async () => {
  world = await startDuchyWorld();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  stop = new AbortController();
  running = [];
  vi.restoreAllMocks();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

/** Starts a herald, and returns an array that collects its log messages. */
function run({ duchy }: TestDuchy, pollMs: number): string[] {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line).msg) });
  running.push(new Herald({ ...duchy, log }, { pollMs }).run(stop.signal));
  return lines;
}

const knows = async ({ query }: TestDuchy, name: string) =>
  (await query('SELECT FROM computations WHERE id = $1', [name.split('/').at(-1)])).length === 1;

/** Makes every request for changes get this response. */
function breakChanges(respond: () => Promise<Response>): void {
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
    String(input).includes('/changes') ? respond() : fetch(input, init),
  );
}

/** Starts all heralds and mills, and returns an array that collects their log lines at level warn or error. */
function runAll(): object[] {
  const lines: object[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
  for (const { duchy } of world.duchies) {
    running.push(new Herald({ ...duchy, log }, { pollMs: HOUR_MS }).run(stop.signal));
    running.push(new Mill({ ...duchy, log }, { ...MILL, pollMs: HOUR_MS }).run(stop.signal));
  }
  return lines;
}

const outcomes = async ({ query }: TestDuchy, name: string) =>
  (await query('SELECT outcome FROM computations WHERE id = $1', [name.split('/').at(-1)])).map(
    ({ outcome }) => outcome,
  );
const ended = (name: string) =>
  Promise.all(world.duchies.map((duchy) => outcomes(duchy, name))).then((all) => all.flat());

test('a measurement that is cancelled while duchies compute leaves no warning in their logs', async () => {
  const lines = runAll();
  for (let round = 0; round < rounds(3, 1); round++) {
    const { name } = await world.ask();
    await expect.poll(() => isReady(name!), SOON).toBe(true);
    await uploadAll(world, { name: name! } as never, AUDIENCES);
    await world.acme.client.cancelMeasurement({ name: name! }).catch(() => {});
    await expect.poll(() => ended(name!).then((all) => all.includes(null)), SOON).toBe(false);
  }
  expect(lines).toEqual([]);
});

test('a computation completes through changes and messages alone, without polling or warnings', async () => {
  const lines = runAll();
  const { name } = await world.ask();
  const state = async () => (await world.acme.client.getMeasurement({ name: name! })).state;
  await expect.poll(() => isReady(name!), SOON).toBe(true);
  await uploadAll(world, { name: name! } as never, AUDIENCES);
  await expect.poll(state, SOON).toBe('SUCCEEDED');
  expect(reachOf(await openResult(world, { name: name! } as never))).toBe(truth(1).size);
  await expect.poll(() => ended(name!), SOON).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  expect(lines).toEqual([]);
});

/** Returns whether the measurement is ready for the providers' uploads. */
async function isReady(measurement: string): Promise<boolean> {
  const { client, name } = world.providers[0]!;
  const requisitions = await Array.fromAsync(client.listRequisitions({ parent: name }));
  return requisitions.some((r) => r.measurement === measurement && r.duchies !== undefined);
}

test.each<[string, () => Promise<Response>]>([
  ['a proxy responds to requests for changes with 404', async () => new Response('nginx', { status: 404 })],
  ['connections for changes fail', async () => Promise.reject(new TypeError('fetch failed'))],
])('if %s, the herald polls the exchange', async (_what, respond) => {
  breakChanges(respond);
  const duchy = world.of('FIRST_WORKER');
  run(duchy, 50);
  const { name } = await world.ask();
  await expect.poll(() => knows(duchy, name!), SOON).toBe(true);
  await world.acme.client.cancelMeasurement({ name: name! });
});

test('a herald logs once that changes cannot be followed, and once that they are followed again', async () => {
  breakChanges(async () => new Response('nginx', { status: 404 }));
  const duchy = world.of('FIRST_WORKER');
  const lines = run(duchy, 50);
  const about = () => lines.filter((line) => line.includes('follow'));
  const told = ['changes cannot be followed; the exchange is polled'];
  // Wait until several attempts have failed.
  await expect.poll(() => vi.mocked(fetch).mock.calls.length, SOON).toBeGreaterThan(20);
  expect(about()).toEqual(told);
  vi.restoreAllMocks();
  told.push('changes are followed again');
  await expect.poll(about, SOON).toEqual(told);
});

test('a herald that is stopped aborts its request for changes', async () => {
  const { fetch } = globalThis;
  let asked: AbortSignal | null | undefined;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    if (String(input).includes('/changes')) asked = init!.signal;
    return fetch(input, init);
  });
  run(world.of('AGGREGATOR'), HOUR_MS);
  await expect.poll(() => asked, SOON).toBeDefined();
  stop.abort();
  await Promise.all(running);
  expect(asked!.aborted).toBe(true);
});
