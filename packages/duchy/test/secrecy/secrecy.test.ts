/**
 * Tests that no party sees data that it must not see. An exchange and three duchies compute a figure while the test
 * keeps everything that each of them receives and stores. An adversary with the view of one party then searches for a
 * provider's counts and for the sum of all counts. Seeds are fixed, so the random choices are the same every time.
 */

import type { ShareShuffleParameters } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import { noiseRegisters } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/noiseRegisters';
import { Dice, vidsOf } from '@measurement-exchange/testkit/mpc/world';
import { byVidHash } from '@measurement-exchange/testkit/vidHash';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { planOf } from '../../src/computations/plan.ts';
import { type ComputationSecrets, readComputation, readSecrets } from '../../src/database/index.ts';
import { makeUpload, type People } from '../stages/uploads.ts';
import { type DuchyWorld, startDuchyWorld, type TestDuchy, VID_RANGES } from '../stages/world.ts';
import { findSecrets, listsIn, understand, unshuffled, vectorsIn } from './adversary.ts';
import { type RecordingProxy, startProxy } from './proxy.ts';
import { together, View } from './view.ts';
import type { Secret } from './written.ts';

vi.mock('@measurement-exchange/mpc/shares', async (original) =>
  (await import('../fixedSeeds.ts')).withFixedSeeds(await original<object>()),
);

vi.mock(
  '../../src/protocols/honestMajorityShareShuffle/shuffleThread.ts',
  () => import('../shuffleInProcess.ts'),
);

const [EXCHANGE, FIRST, SECOND, AGGREGATOR] = [
  'exchange',
  'duchies/alpha',
  'duchies/beta',
  'duchies/gamma',
] as const;
const PROGRAMS = [EXCHANGE, FIRST, SECOND, AGGREGATOR] as const;
const views = new Map<string, View>(PROGRAMS.map((name) => [name, new View()]));
const viewOf = (name: string) => views.get(name)!;
const proxies: RecordingProxy[] = [];

const VIDS = byVidHash(vidsOf(VID_RANGES));
const dice = new Dice('audiences');
/** Each audience is a random half of the people. Each person in an audience was reached 1 to 4 times. */
const AUDIENCES: People[] = [0, 1, 2].map(
  () => new Map(VIDS.filter(() => dice.below(2) === 0).map((vid) => [vid, dice.between(1, 4)])),
);

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld({ noiseMechanism: 'DISCRETE_GAUSSIAN', between });
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

/**
 * Starts a proxy that records requests in the view of the receiving program, and responses in the view of the calling
 * duchy. If the caller is unknown, responses of a duchy are recorded for all duchies, and responses of the exchange are
 * not recorded.
 */
async function between(url: string, to: string, from?: string): Promise<string> {
  const callers = from !== undefined ? [from] : to === EXCHANGE ? [] : [FIRST, SECOND, AGGREGATOR];
  const proxy = await startProxy(
    url,
    (part) => viewOf(to).keep(part),
    (part) => callers.forEach((caller) => void viewOf(caller).keep(part)),
  );
  proxies.push(proxy);
  return proxy.url;
}

/** Lets a duchy work, and records its database after each stage. */
async function step(each: TestDuchy): Promise<void> {
  await each.herald.once();
  while (await each.mill.once()) await viewOf(each.duchy.name).keepDuchy(each);
}

describe.each([
  ['reach', { type: 'reach' }, 1],
  ['reach and frequency', { type: 'reachAndFrequency', maximumFrequency: 4 }, 4],
] as const)('in a computation of %s', (_what, request, cap) => {
  const vectors = AUDIENCES.map((people) =>
    Uint8Array.from(VIDS, (vid) => Math.min(people.get(vid) ?? 0, cap)),
  );
  const sum = Uint8Array.from(VIDS, (_, i) => vectors.reduce((total, vector) => total + vector[i]!, 0));
  const reached = sum.map((value) => (value === 0 ? 0 : 1));
  const secret = (name: string, vector: Uint8Array): Secret => ({ name, vector, vids: VIDS });
  const OWN = vectors.map((vector, i) => secret(`provider ${i}`, vector));
  const SECRETS = [...OWN, secret('the sum', sum), secret('who was reached', reached)];

  let parameters: ShareShuffleParameters;
  /** The two shares of each provider: the uploaded share, and the share expanded from the seed. */
  let shares: [Uint8Array, Uint8Array][];
  let secrets: Record<string, ComputationSecrets>;
  const search = (...those: View[]) => findSecrets(together(...those), parameters, SECRETS);

  beforeAll(async () => {
    for (const view of views.values()) view.startAnew();
    const measurement = await world.ask(request);
    for (const each of world.duchies) await step(each);
    const id = measurement.name!.split('/').at(-1)!;
    const { db } = world.of('FIRST_WORKER').duchy;
    ({ parameters } = planOf('honestMajorityShareShuffle', (await readComputation(db, id))!));
    secrets = {};
    for (const { duchy } of world.duchies) secrets[duchy.name] = await readSecrets(duchy.db, id);
    shares = [];
    for (const [i, people] of AUDIENCES.entries()) {
      const upload = await makeUpload(world.providers[i]!, measurement, people, { cap });
      expect((await upload.send()).status).toBe(200);
      const uploaded = upload.share.subarray(-VIDS.length);
      const { modulus } = parameters;
      shares.push([uploaded, uploaded.map((value, j) => (vectors[i]![j]! + modulus - value) % modulus)]);
    }
    const stateOf = async () => (await world.acme.client.getMeasurement({ name: measurement.name! })).state;
    for (let turns = 0; turns < 20 && (await stateOf()) !== 'SUCCEEDED'; turns++) {
      for (const each of world.duchies) await step(each);
    }
    expect(await stateOf()).toBe('SUCCEEDED');
    await viewOf(EXCHANGE).keepDatabase(world.exchange.database.query);
    for (const line of await world.exchange.logs()) viewOf(EXCHANGE).keep(line);
  });

  test.each(PROGRAMS)('%s alone cannot find the counts of any provider, or their sum', async (name) => {
    expect(viewOf(name).held.length).toBeGreaterThan(50);
    expect(await search(viewOf(name))).toEqual([]);
  });

  // Skip this test for the first computation, whose cap is 1. In that computation, the exchange's view also contains
  // all data from the setup of the test world. The search uses each 48-byte string in that data as the seed of a
  // vector. More than a thousand such vectors span all possible vectors, so the search would report every secret.
  test.runIf(cap > 1)('the exchange with the first worker or the aggregator finds no counts', async () => {
    for (const name of [FIRST, AGGREGATOR]) {
      expect(await search(viewOf(EXCHANGE), viewOf(name))).toEqual([]);
    }
  });

  test('the search finds the counts of all providers in the combined views of both workers', async () => {
    expect(await search(viewOf(FIRST), viewOf(SECOND))).toEqual([...OWN.map(({ name }) => name), 'the sum']);
  });

  test.each([FIRST, SECOND])(
    'the search finds the sum in the combined views of %s and the aggregator',
    async (name) => {
      expect(await search(viewOf(name), viewOf(AGGREGATOR))).toEqual(['the sum', 'who was reached']);
    },
  );

  const text = (content: unknown) => [Buffer.from(JSON.stringify(content))];
  const without = (one: Uint8Array, other: Uint8Array) =>
    one.map((value, i) => (value + parameters.modulus - other[i]!) % parameters.modulus);
  // biome-ignore format: a table, one row per line
  const LEAKS: [what: string, whom: string, leak: () => Uint8Array[], found: string][] = [
    ['a vector in base64', EXCHANGE, () => text({ data: Buffer.from(vectors[0]!).toString('base64') }), 'provider 0'],
    ['a part of a vector as numbers', EXCHANGE, () => text([...vectors[1]!.subarray(0, 100)]), 'provider 1'],
    ['a vector inside another message', AGGREGATOR, () => [Buffer.concat([Buffer.from('x'), vectors[2]!])], 'provider 2'],
    ['the list of reached VIDs', AGGREGATOR, () => text([...AUDIENCES[0]!.keys()]), 'provider 0'],
    ['the sum before the shuffle', AGGREGATOR, () => [sum], 'the sum'],
    ['the halves of the common seed', AGGREGATOR, () => [FIRST, SECOND].map((name) => secrets[name]!.randomSeed!), 'the sum'],
    ['both shares of a provider', FIRST, () => shares[0]!, 'provider 0'],
    ['both shares of a provider', SECOND, () => shares[1]!, 'provider 1'],
    ['the difference of two providers', SECOND, () => [without(vectors[0]!, vectors[1]!)], 'a combination'],
  ];
  if (cap > 1) {
    test.each(LEAKS)('the search finds %s leaked to %s', async (_leak, whom, leak, found) => {
      const leaked = new View();
      for (const bytes of leak()) leaked.keep(bytes);
      expect(await search(viewOf(whom), leaked)).toContain(found);
    });
  }

  test.each([FIRST, SECOND])(
    '%s has one share of each provider, uniform both for reached and for unreached people',
    async (name) => {
      const held = vectorsIn(await understand(viewOf(name)), parameters);
      for (const [i, both] of shares.entries()) {
        const own = both.filter((share) => held.some((vector) => Buffer.from(share).equals(vector)));
        expect(own).toHaveLength(1);
        const [share] = own as [Uint8Array];
        expect(isUniform(share)).toBe(true);
        expect(isUniform(share.filter((_, j) => vectors[i]![j] === 0))).toBe(true);
        expect(isUniform(share.filter((_, j) => vectors[i]![j] !== 0))).toBe(true);
        expect(isUniform(vectors[i]!)).toBe(false);
      }
    },
  );

  function isUniform(values: Uint8Array): boolean {
    const counts = new Array<number>(parameters.modulus).fill(0);
    for (const value of values) counts[value]!++;
    return isEven(counts);
  }

  test('the aggregator has the correct values, in an order unrelated to the original one', async () => {
    const lists = listsIn(await understand(viewOf(AGGREGATOR)), parameters);
    expect(lists).toHaveLength(2);
    const { modulus, measurementType } = parameters;
    const added = (one: Uint8Array, other: Uint8Array) =>
      one.map((value, i) => (value + other[i]!) % modulus);
    const list = Uint8Array.from(added(lists[0]!, lists[1]!));
    const noise = [FIRST, SECOND].map((name) => noiseRegisters(parameters, secrets[name]!.noiseSeed!));
    const before = Uint8Array.from(Buffer.concat([sum, ...noise]));
    // In a reach computation, any value other than 0 stands for a person who was reached.
    const shown = (values: Uint8Array) =>
      measurementType === 'REACH' ? values.map((value) => (value === 0 ? 0 : 1)) : values;
    expect(shown(list).toSorted()).toEqual(shown(before).toSorted());
    expect(tellsOrder(shown(list), shown(before))).toBe(false);
    expect(tellsOrder(shown(list).toReversed(), shown(before))).toBe(false);
    // Check that `tellsOrder` itself works: it must detect a list whose shuffle was reversed.
    const common = secrets[FIRST]!.randomSeed!.map((byte, i) => byte ^ secrets[SECOND]!.randomSeed![i]!);
    const [one, other] = lists.map((each) => unshuffled(each, common, parameters));
    const people = Uint8Array.from(added(one!, other!));
    expect(people).toEqual(sum);
    expect(tellsOrder(shown(before), shown(before))).toBe(true);
    expect(tellsOrder(shown(Uint8Array.from(Buffer.concat([people, ...noise]))), shown(before))).toBe(true);
  });
});

/**
 * Returns whether the counts are as even as expected by chance: chi-square within five standard deviations of its mean.
 */
function isEven(counts: number[]): boolean {
  const expected = counts.reduce((a, b) => a + b) / counts.length;
  const chiSquare = counts.reduce((total, count) => total + (count - expected) ** 2 / expected, 0);
  const freedom = counts.length - 1;
  return Math.abs(chiSquare - freedom) < 5 * Math.sqrt(2 * freedom);
}

/**
 * Returns whether the two lists have equal values at more or fewer positions than expected for a random order, by more
 * than five standard deviations.
 */
function tellsOrder(list: Uint8Array, before: Uint8Array): boolean {
  const counts = new Map<number, number>();
  for (const value of before) counts.set(value, (counts.get(value) ?? 0) + 1);
  const mean = before.reduce((total, value) => total + counts.get(value)! / before.length, 0);
  const same = list.filter((value, i) => value === before[i]).length;
  const deviation = Math.sqrt(mean * (1 - mean / before.length));
  return Math.abs(same - mean) > 5 * deviation;
}
