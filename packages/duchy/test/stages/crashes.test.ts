/**
 * Tests mills, heralds and HTTP servers that die at any moment, and duchies that are down: each stage still has exactly
 * one output. Also tests removed computations and the metrics.
 */

import { readFile } from 'node:fs/promises';
import type { Explanation, Measurement } from '@measurement-exchange/contract';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { follow } from '../../src/computations/follow.ts';
import { removeBlobs, removeComputations } from '../../src/database/index.ts';
import { Herald } from '../../src/herald/herald.ts';
import { Mill } from '../../src/mills/mill.ts';
import { dyingAt } from './dying.ts';
import { openResult, reachOf } from './results.ts';
import { makeUpload, people, uploadAll } from './uploads.ts';
import { type DuchyWorld, MILL, startDuchyWorld, startFace, type TestDuchy } from './world.ts';

vi.mock(
  '../../src/protocols/honestMajorityShareShuffle/shuffleThread.ts',
  () => import('../shuffleInProcess.ts'),
);

const AUDIENCES = [people(1, 300), people(201, 400), people(1001, 1010)];
const REACH = 410;

let world: DuchyWorld;
/** How far the clock of this process is ahead, in ms. */
let aheadMs = 0;
beforeAll(async () => {
  const [date, passed] = [Date.now, performance.now.bind(performance)];
  vi.spyOn(Date, 'now').mockImplementation(() => date() + aheadMs);
  vi.spyOn(performance, 'now').mockImplementation(() => passed() + aheadMs);
  world = await startDuchyWorld();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
  vi.restoreAllMocks();
});

/** Makes every lease expire. Resets the number of attempts, because a stage fails after ten attempts. */
async function expireLeases({ query }: TestDuchy): Promise<void> {
  await query(
    `UPDATE computations SET attempt = 0, lease_until = CASE WHEN lease_token IS NOT NULL THEN now() END
     WHERE outcome IS NULL`,
  );
}

interface Sent {
  stage: string;
  peer: string;
  signed: string;
  digest: string;
}

/** Returns the messages that a duchy sent ('OUT') or received ('IN') for the latest computation. */
async function messages({ query }: TestDuchy, direction: 'IN' | 'OUT'): Promise<Sent[]> {
  return (await query(
    `SELECT m.stage, m.peer, encode(m.signed_message, 'hex') AS signed, encode(b.sha256, 'hex') AS digest
     FROM messages m JOIN blobs b ON b.id = m.blob JOIN computations c ON c.id = m.computation
     WHERE m.direction = $1 AND c.create_time = (SELECT max(create_time) FROM computations) ORDER BY m.stage, m.peer`,
    [direction],
  )) as unknown as Sent[];
}

/**
 * For each due stage, lets one mill die at its first call, the next mill at its second call, and so on, until a mill
 * survives. Returns the number of deaths.
 */
async function dieAtEverything(duchy: TestDuchy, when: 'before' | 'after'): Promise<number> {
  let deaths = 0;
  let outputs: Sent[] = [];
  for (let n = 1; ; n++) {
    const dying = dyingAt(duchy.duchy, n, when);
    const hadWork = await new Mill(dying.duchy, MILL).once().catch(() => true);
    const now = await messages(duchy, 'OUT');
    // Once stored, an output must stay identical byte for byte.
    expect(now).toEqual(expect.arrayContaining(outputs));
    outputs = now;
    if (dying.isDead()) {
      deaths++;
      await expireLeases(duchy);
    } else if (hadWork) n = 0;
    else return deaths;
  }
}

/**
 * The moments at which a mill or an HTTP server dies. Only stress runs test both moments, because a death before a call
 * leaves the same stored state as a death after the previous call.
 */
const MOMENTS = isStress ? (['before', 'after'] as const) : (['after'] as const);

test.each(MOMENTS)('the result is exact and outputs never change if mills die %s each call', async (when) => {
  const measurement = await world.ask();
  let deaths = 0;
  const turn = async () => {
    for (const duchy of world.duchies) {
      await duchy.herald.once();
      deaths += await dieAtEverything(duchy, when);
    }
  };
  await turn();
  await uploadAll(world, measurement, AUDIENCES);
  const state = async () => (await world.acme.client.getMeasurement({ name: measurement.name! })).state;
  for (let turns = 0; turns < 10 && (await state()) !== 'SUCCEEDED'; turns++) await turn();
  expect(await state()).toBe('SUCCEEDED');
  expect(deaths).toBeGreaterThan(isStress ? 50 : 20);
  expect(reachOf(await openResult(world, measurement))).toBe(REACH);
  // Each duchy received exactly the messages that the other duchies stored.
  const sent = (await Promise.all(world.duchies.map((duchy) => messages(duchy, 'OUT')))).flat();
  const received = (await Promise.all(world.duchies.map((duchy) => messages(duchy, 'IN')))).flat();
  expect(sent.map(({ stage }) => stage).sort()).toEqual([
    'AGGREGATION_PHASE_INPUT',
    'AGGREGATION_PHASE_INPUT',
    'RESULT',
    'SHUFFLE_PHASE_INPUT_ONE',
    'SHUFFLE_PHASE_INPUT_TWO',
  ]);
  expect(received.map(({ digest }) => digest).sort()).toEqual(
    sent
      .filter(({ stage }) => stage !== 'RESULT')
      .map(({ digest }) => digest)
      .sort(),
  );
  await world.turn();
});

/**
 * Several of the tests below share this measurement. The last of these tests checks that the measurement's result is
 * exact despite all deaths.
 */
let measurement: Measurement | undefined;
const uploaded = new Set<number>();

async function begun(): Promise<Measurement> {
  if (measurement === undefined) {
    measurement = await world.ask();
    await world.turn();
  }
  return measurement;
}

async function upload(i: number): Promise<void> {
  if (uploaded.has(i)) return;
  expect((await (await makeUpload(world.providers[i]!, await begun(), AUDIENCES[i]!)).send()).status).toBe(
    200,
  );
  uploaded.add(i);
}

test('a computation continues after heralds died at every call', async () => {
  measurement = await world.ask();
  for (const duchy of world.duchies) {
    for (let n = 1; ; n++) {
      const dying = dyingAt(duchy.duchy, n, n % 2 === 0 ? 'before' : 'after');
      await new Herald(dying.duchy).once().catch(() => {});
      if (!dying.isDead()) break;
    }
  }
  await world.turn();
});

test.each(MOMENTS)('a reported upload is stored, even if the HTTP server dies %s any call', async (when) => {
  // Test each moment with a different provider, because each provider can upload only once.
  const i = MOMENTS.indexOf(when as never);
  const upload = await makeUpload(world.providers[i]!, await begun(), AUDIENCES[i]!);
  const { requisition, duchy: name } = upload.fulfillment;
  const taker = world.duchies.find(({ duchy }) => duchy.name === name)!;
  const stateOf = async () => (await world.providers[i]!.client.getRequisition({ name: requisition })).state;
  let deaths = 0;
  for (let n = 1; ; n++) {
    const dying = dyingAt(taker.duchy, n, when);
    const face = await startFace(dying.duchy);
    upload.url.host = new URL(face.url).host;
    const response = await upload.send();
    await face.stop();
    const stored = await taker.query(
      'SELECT 1 FROM uploads JOIN blobs b ON b.id = blob WHERE requisition = $1 AND complete_time IS NOT NULL',
      [requisition],
    );
    // Anything that the duchy reported to the exchange or the provider must be stored.
    if ((await stateOf()) === 'FULFILLED' || response.ok) expect(stored).toHaveLength(1);
    if (!dying.isDead()) {
      expect(response.status).toBe(200);
      break;
    }
    deaths++;
  }
  expect(deaths).toBeGreaterThan(isStress ? 5 : 2);
  uploaded.add(i);
});

test('an upload that was stored while the exchange was unreachable is reported later', async () => {
  await upload(0);
  await upload(1);
  const last = await makeUpload(world.providers[2]!, await begun(), AUDIENCES[2]!);
  const taker = world.duchies.find(({ duchy }) => duchy.name === last.fulfillment.duchy)!;
  // The duchy can store the upload, but cannot report it to the exchange.
  taker.failOn('fulfillComputationRequisition');
  expect((await last.send()).status).toBe(503);
  expect(await taker.query('SELECT 1 FROM uploads WHERE reported_time IS NULL')).toHaveLength(1);
  taker.failOn(undefined);
  await new Herald(taker.duchy, { reportAfterMs: 0 }).once();
  expect(await taker.query('SELECT 1 FROM uploads WHERE reported_time IS NULL')).toHaveLength(0);
  uploaded.add(2);
});

test('another mill takes over the stage of a slow mill whose lease has expired', async () => {
  for (const i of [0, 1, 2]) await upload(i);
  const first = world.of('FIRST_WORKER');
  await first.herald.once();
  // Pause one mill while it sends. It continues after another mill has completed the stage.
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = () => {};
  const sending = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const slow: typeof fetch = async (...args) => {
    reached();
    await released;
    return fetch(...args);
  };
  const slowMill = new Mill({ ...first.duchy, fetch: slow }, MILL).once();
  await sending;
  await expireLeases(first);
  expect(await first.mill.once()).toBe(true);
  release();
  await slowMill;
});

test('the measurement of the crash tests above has the exact result', async () => {
  for (const i of [0, 1, 2]) await upload(i);
  expect((await world.finish(await begun())).state).toBe('SUCCEEDED');
  expect(reachOf(await openResult(world, await begun()))).toBe(REACH);
});

/**
 * Returns the explanation that the consumer gets eleven minutes later, if only `others` have called the exchange since.
 */
async function explainedLater(measurement: Measurement, others: TestDuchy[]): Promise<Explanation> {
  aheadMs += 11 * 60_000;
  for (const { herald } of others) await herald.once();
  return world.acme.client.explainMeasurement({ name: measurement.name! });
}

describe('a measurement', () => {
  let measurement: Measurement;
  beforeAll(async () => {
    measurement = await world.ask();
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES);
  });

  test.each(['FIRST_WORKER', 'SECOND_WORKER', 'AGGREGATOR'] as const)(
    'continues after the %s was down, and reports that duchy as OFFLINE meanwhile',
    async (role) => {
      const away = world.of(role);
      await away.down();
      const others = world.duchies.filter((duchy) => duchy !== away);
      for (const { herald } of others) await herald.once();
      // Run 15 rounds, which is more than the number of failures after which a stage gives up.
      for (let i = 0; i < 15; i++) {
        for (const { mill } of others) await mill.once();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const { summary, waitingFor } = await explainedLater(measurement, others);
      const { name } = away.duchy;
      const resource = `${name}/computations/${measurement.name!.split('/').at(-1)}`;
      expect(waitingFor[0]).toMatchObject({ party: name, resource, code: 'OFFLINE' });
      expect(waitingFor.filter(({ code }) => code !== 'STAGE_RUNNING')).toHaveLength(1);
      expect(summary).toMatch(new RegExp(`^${name} .*last seen`));
      await away.up();
      if (role !== 'AGGREGATOR') return;
      expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
      expect(reachOf(await openResult(world, measurement))).toBe(REACH);
    },
  );
});

test('a herald does not create a removed computation again, and keeps working', async () => {
  const { duchy, query } = world.of('FIRST_WORKER');
  await query(
    `SET session_replication_role = replica;
     UPDATE computations SET update_time = update_time - interval '2 days' WHERE outcome IS NOT NULL;
     UPDATE blobs SET create_time = create_time - interval '2 days';
     SET session_replication_role = origin`,
  );
  await removeBlobs(duchy.db, 0, 600);
  expect(await removeComputations(duchy.db, 1)).toBeGreaterThan(0);
  const herald = new Herald(duchy);
  await herald.once();
  await herald.once();
  expect(await query('SELECT id FROM computations')).toEqual([]);
  // Show the duchy a removed computation as new, as a lying exchange or one restored from a backup could do.
  const measurement = await world.ask();
  const [view] = await Array.fromAsync(
    duchy.client.listComputations({ parent: duchy.name, 'filter.states': ['PENDING_PARAMS'] }),
  );
  await query('INSERT INTO removed_computations (id) VALUES ($1)', [view!.name!.split('/').at(-1)]);
  await follow(duchy, view!);
  expect(await query('SELECT id FROM computations')).toEqual([]);
  await query('DELETE FROM removed_computations');
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES);
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
});

/** Adds up the samples in /metrics that have this name and these labels. */
function sampleOf(metrics: string, name: string, labels: Record<string, string> = {}): number {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = metrics
    .split('\n')
    .filter((line) => line.split(/[{ ]/)[0] === name && parts.every((part) => line.includes(part)));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('the metrics of a duchy count requests, bytes and stages, and docs/duchy.md explains each metric', async () => {
  await world.ask();
  await world.turn();
  const { duchy } = world.of('FIRST_WORKER');
  const { endpoint } = (await duchy.client.getParty({ name: duchy.name })) as { endpoint?: string };
  await fetch(`${endpoint}/v2alpha/computations/nope:advance`, { method: 'POST', body: new FormData() });
  const metrics = await duchy.metrics.text();
  const expected: [string, Record<string, string>?][] = [
    ['mex_duchy_requests_total', { operation: 'fulfill', code: 'OK', reason: 'OK' }],
    ['mex_duchy_requests_total', { operation: 'advance', code: 'OK', reason: 'OK' }],
    ['mex_duchy_requests_total', { operation: 'advance', code: 'INVALID_ARGUMENT' }],
    ['mex_duchy_request_seconds_count', { operation: 'fulfill' }],
    ['mex_duchy_received_bytes_total', { operation: 'fulfill' }],
    ['mex_duchy_received_bytes_total', { operation: 'advance' }],
    ['mex_duchy_sent_bytes_total', { peer: 'duchies/beta' }],
    ['mex_duchy_sent_bytes_total', { peer: 'duchies/gamma' }],
    ['mex_duchy_stages_total', { stage: 'INITIALIZED', outcome: 'done' }],
    ['mex_duchy_stages_total', { stage: 'SETUP_PHASE', outcome: 'done' }],
    ['mex_duchy_stages_total', { stage: 'SHUFFLE_PHASE', outcome: 'done' }],
    ['mex_duchy_stages_total', { stage: 'SETUP_PHASE', outcome: 'lease_lost' }],
    ['mex_duchy_stages_total', { stage: 'SETUP_PHASE', outcome: 'waiting' }],
    ['mex_duchy_stages_total', { stage: 'SETUP_PHASE', outcome: 'retried' }],
    ['mex_duchy_stage_seconds_sum', { stage: 'SHUFFLE_PHASE' }],
    ['mex_duchy_computations', { role: 'FIRST_WORKER', stage: 'WAIT_TO_START' }],
    ['mex_duchy_pool_connections', { state: 'idle' }],
  ];
  const missing = expected.filter(([name, labels]) => !(sampleOf(metrics, name, labels) > 0));
  expect(missing).toEqual([]);
  // Check that durations are recorded in seconds. All stages ran one after another, so the sum of their durations is
  // less than the time since this process started.
  const elapsed = performance.now() / 1000;
  for (const name of ['mex_duchy_stage_seconds', 'mex_duchy_request_seconds']) {
    expect(sampleOf(metrics, `${name}_sum`)).toBeGreaterThan(0);
    expect(sampleOf(metrics, `${name}_sum`)).toBeLessThan(elapsed);
  }
  const attempts = sampleOf(metrics, 'mex_duchy_stages_total');
  expect(sampleOf(metrics, 'mex_duchy_stage_seconds_count')).toBe(attempts);
  expect(sampleOf(metrics, 'mex_duchy_computations')).toBe(1);
  const polled = sampleOf(metrics, 'mex_duchy_herald_polled_timestamp_seconds');
  expect(Math.abs(Date.now() / 1000 - polled)).toBeLessThan(600);

  const document = await readFile(new URL('../../../../docs/duchy.md', import.meta.url), 'utf8');
  const explained = [...document.matchAll(/^\| `(mex_\w+)`/gm)].map(([, name]) => name!);
  const served = [...metrics.matchAll(/^# HELP (mex_\w+)/gm)].map(([, name]) => name!);
  expect(explained.sort()).toEqual(served.sort());
});
