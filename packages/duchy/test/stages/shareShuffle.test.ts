/** People of several providers counted once, by an exchange and three duchies over real HTTP. */
import { specs } from '@measurement-exchange/contract';
import { mpcNoise } from '@measurement-exchange/sdk';
import { requisitionOf } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pendingComputations } from '../../src/database/index.ts';
import { rowOf } from '../../src/stages/progress.ts';
import { openResult, reachOf } from './results.ts';
import { INDEX, type People, people, uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld } from './world.ts';

const { NONE, DISCRETE_GAUSSIAN } = specs.ProtocolConfig_NoiseMechanism;

/** 1–300 once; 201–400 twice, 1001–1050 once; 301–350 three times, and people that are not of the population. */
const AUDIENCES: People[] = [
  people(1, 300),
  new Map([...people(201, 400, 2), ...people(1001, 1050)]),
  new Map([...people(301, 350, 3), ...people(700, 710)]),
];

/** How often everybody together reached each person of the population. */
function truth(cap: number, isSampled: (vid: number) => boolean = () => true): Map<number, number> {
  const total = new Map<number, number>();
  for (const audience of AUDIENCES) {
    for (const [vid, times] of audience) {
      if (INDEX.of(vid) < 0 || !isSampled(vid)) continue;
      total.set(vid, (total.get(vid) ?? 0) + Math.min(times, cap));
    }
  }
  return total;
}

function distribution(total: Map<number, number>, maximumFrequency: number): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const times of total.values()) {
    const bucket = Math.min(times, maximumFrequency);
    shares[bucket] = (shares[bucket] ?? 0) + 1 / total.size;
  }
  return shares;
}

describe('without noise', () => {
  let world: DuchyWorld;
  beforeAll(async () => {
    world = await startDuchyWorld();
  });
  afterAll(async () => {
    expect(await world.stop()).toEqual([]);
  });

  test('the reach is exactly the number of different people', async () => {
    const measurement = await world.ask();
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES);
    const done = await world.finish(measurement);
    expect(done.state).toBe('SUCCEEDED');
    const result = await openResult(world, measurement);
    expect(result.reach).toMatchObject({
      value: BigInt(truth(1).size),
      noiseMechanism: NONE,
      methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: 1000n } },
    });
    expect(result.frequency).toBeUndefined();
    // As the consumer opens it, with every check it has.
    const { total } = await world.consumer.open(done);
    expect(total.deduplicated).toMatchObject({ reach: { value: truth(1).size } });
    for (const { query } of world.duchies) {
      expect(await query('SELECT stage, outcome, noise_seed, private_keyset FROM computations')).toEqual([
        { stage: 'COMPLETE', outcome: 'SUCCEEDED', noise_seed: null, private_keyset: null },
      ]);
    }
  });

  test('the frequencies are exactly those of the people', async () => {
    const measurement = await world.ask({ type: 'reachAndFrequency', maximumFrequency: 4 });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { cap: 4 });
    expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
    const { reach, frequency } = await openResult(world, measurement);
    const total = truth(4);
    expect(Number(reach!.value)).toBe(total.size);
    expect(frequency).toMatchObject({
      noiseMechanism: NONE,
      methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: 1000n } },
    });
    const expected = distribution(total, 4);
    expect(Object.keys(frequency!.relativeFrequencyDistribution).sort()).toEqual(
      Object.keys(expected).sort(),
    );
    for (const [bucket, share] of Object.entries(expected)) {
      expect(frequency!.relativeFrequencyDistribution[bucket]).toBeCloseTo(share, 10);
    }
  });

  test('a sample of the people is scaled up', async () => {
    const interval = { start: 0.25, width: 0.5 };
    const measurement = await world.ask({ vidSampling: interval });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { interval });
    expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
    const sampled = truth(1, (vid) => INDEX.of(vid) >= 250 && INDEX.of(vid) < 750).size;
    expect(reachOf(await openResult(world, measurement))).toBe(2 * sampled);
  });

  test('loops that nobody steps through do the same', async () => {
    const stop = new AbortController();
    const loops = world.duchies.flatMap(({ herald, mill }) => [
      herald.run(stop.signal),
      mill.run(stop.signal),
    ]);
    const measurement = await world.ask();
    const isReady = async () =>
      (await requisitionOf(world.providers[0]!, measurement.name!)).duchies !== undefined;
    await expect.poll(isReady, { timeout: 20_000 }).toBe(true);
    await uploadAll(world, measurement, AUDIENCES);
    const done = async () => (await world.acme.client.getMeasurement({ name: measurement.name! })).state;
    await expect.poll(done, { timeout: 20_000 }).toBe('SUCCEEDED');
    stop.abort();
    await Promise.all(loops);
    expect(reachOf(await openResult(world, measurement))).toBe(truth(1).size);
  });
});

describe('with noise', () => {
  const PRIVACY = { epsilon: 1, delta: 1e-9 };
  const { variance } = mpcNoise('DISCRETE_GAUSSIAN', PRIVACY);
  let world: DuchyWorld;
  beforeAll(async () => {
    world = await startDuchyWorld({ noiseMechanism: 'DISCRETE_GAUSSIAN' });
  });
  afterAll(async () => {
    expect(await world.stop()).toEqual([]);
  });

  test('the reach is within five standard deviations, and says which noise it has', async () => {
    const reaches: number[] = [];
    for (let i = 0; i < 3; i++) {
      const measurement = await world.ask();
      await world.turn();
      await uploadAll(world, measurement, AUDIENCES);
      expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
      const result = await openResult(world, measurement);
      expect(result.reach!.noiseMechanism).toBe(DISCRETE_GAUSSIAN);
      reaches.push(reachOf(result));
    }
    for (const reach of reaches) {
      expect(Math.abs(reach - truth(1).size)).toBeLessThan(5 * Math.sqrt(variance));
    }
    // Three times no noise at all has a probability below 0.0003.
    expect(new Set([...reaches, truth(1).size]).size).toBeGreaterThan(1);
  });

  test('the frequencies are within five standard deviations', async () => {
    const measurement = await world.ask({ type: 'reachAndFrequency', maximumFrequency: 4 });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { cap: 4 });
    expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
    const { reach, frequency } = await openResult(world, measurement);
    const total = truth(4);
    expect(Math.abs(Number(reach!.value) - total.size)).toBeLessThan(5 * Math.sqrt(variance));
    expect(frequency!.noiseMechanism).toBe(DISCRETE_GAUSSIAN);
    for (const [bucket, share] of Object.entries(distribution(total, 4))) {
      // The last bucket is what is left over, so it has the noise of all others.
      const sigma = Math.sqrt(variance * (bucket === '4' ? 5 : 1));
      const found = frequency!.relativeFrequencyDistribution[bucket] ?? 0;
      expect(Math.abs(found - share) * total.size).toBeLessThan(5 * sigma + 5 * Math.sqrt(variance));
    }
  });

  test('a stage that is repeated computes the same bytes, with the same noise', async () => {
    const measurement = await world.ask();
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES);
    const { duchy, herald, mill } = world.of('FIRST_WORKER');
    await herald.once();
    await mill.once();
    await world.of('SECOND_WORKER').mill.once();
    const [computation] = await pendingComputations(duchy.db);
    expect(computation!.stage).toBe('SHUFFLE_PHASE');
    const work = { duchy, computation: computation!, signal: new AbortController().signal };
    const { run } = rowOf(computation!)!;
    const once = (await run!(work))!;
    expect(once.length).toBeGreaterThan(1000);
    expect(Buffer.from(once).equals((await run!(work))!)).toBe(true);
    expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
  });
});
