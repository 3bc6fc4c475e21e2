/** Tests deduplicated figures of several providers with an exchange and three duchies over real HTTP, without noise. */
import { specs } from '@measurement-exchange/contract';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { requisitionOf } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUDIENCES, distribution, truth } from './audiences.ts';
import { openResult, reachOf } from './results.ts';
import { INDEX, uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld } from './world.ts';

const { NONE } = specs.ProtocolConfig_NoiseMechanism;

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

test('the reach is exactly the number of different people', async () => {
  const measurement = await world.ask();
  const pauses = world.duchies.map(({ duchy }) => duchy.mills.woken);
  await world.turn();
  expect(pauses.map(({ aborted }) => aborted)).toEqual([true, true, true]);
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
  // Open the result as a consumer does, including all checks.
  const { total } = await world.consumer.open(done);
  expect(total.deduplicated).toMatchObject({ reach: { value: truth(1).size } });
  for (const { query } of world.duchies) {
    expect(await query('SELECT stage, outcome, noise_seed, private_keyset FROM computations')).toEqual([
      { stage: 'COMPLETE', outcome: 'SUCCEEDED', noise_seed: null, private_keyset: null },
    ]);
  }
});

test('the reach and the frequency distribution are exact', async () => {
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
  expect(Object.keys(frequency!.relativeFrequencyDistribution).sort()).toEqual(Object.keys(expected).sort());
  for (const [bucket, share] of Object.entries(expected)) {
    expect(frequency!.relativeFrequencyDistribution[bucket]).toBeCloseTo(share, 10);
  }
});

test('the reach of a sampling interval that wraps around is scaled up to all people', async () => {
  const interval = { start: 0.75, width: 0.5 };
  const measurement = await world.ask({ vidSampling: interval });
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES, { interval });
  expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
  const sampled = truth(1, (vid) => INDEX.of(vid) >= 750 || INDEX.of(vid) < 250).size;
  expect(reachOf(await openResult(world, measurement))).toBe(2 * sampled);
});

// Run the herald and mill loops continuously instead of step by step. following.test.ts also covers these loops. Only
// stress runs include this test and following.test.ts.
test.runIf(isStress)('heralds and mills that run continuously compute the exact reach', async () => {
  const stop = new AbortController();
  const loops = world.duchies.flatMap(({ herald, mill }) => [herald.run(stop.signal), mill.run(stop.signal)]);
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
