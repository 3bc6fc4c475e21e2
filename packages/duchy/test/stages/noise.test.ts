/**
 * People counted once with noise, from the setting of the exchange over three duchies to the intervals of the consumer. Seeds
 * are fixed, so that the noise is the same each time.
 */
import { mpcNoise } from '@measurement-exchange/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pendingComputations } from '../../src/database/index.ts';
import { rowOf } from '../../src/stages/progress.ts';
import { AUDIENCES, distribution, truth } from './audiences.ts';
import { uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld } from './world.ts';

vi.mock('@measurement-exchange/sdk/shareShuffle', async (original) =>
  (await import('../fixedSeeds.ts')).withFixedSeeds(await original<object>()),
);

const PRIVACY = { epsilon: 1, delta: 1e-9 };

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise', (noiseMechanism) => {
  const { variance } = mpcNoise(noiseMechanism, PRIVACY);
  const sigma = Math.sqrt(variance);
  let world: DuchyWorld;
  beforeAll(async () => {
    world = await startDuchyWorld({ noiseMechanism });
  });
  afterAll(async () => {
    expect(await world.stop()).toEqual([]);
  });

  /** What the consumer finds of a measurement of everybody. */
  async function measured(...[changes, cap]: [changes?: Parameters<DuchyWorld['ask']>[0], cap?: number]) {
    const measurement = await world.ask({ privacy: PRIVACY, ...changes });
    expect(measurement.protocolConfig!.honestMajorityShareShuffle).toMatchObject({ noiseMechanism });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { ...(cap && { cap }) });
    const { total } = await world.consumer.open(await world.finish(measurement));
    return total.deduplicated!;
  }

  test('on a reach is within five standard deviations, and the consumer knows them', async () => {
    const { reach, noiseMechanism: stated, methodology } = await measured();
    expect({ stated, methodology }).toEqual({
      stated: noiseMechanism,
      methodology: 'honestMajorityShareShuffle',
    });
    const { value, standardDeviation, interval } = reach!;
    expect(standardDeviation).toBeCloseTo(sigma, 9);
    expect(value).not.toBe(truth(1).size);
    expect(Math.abs(value - truth(1).size)).toBeLessThan(5 * sigma);
    expect(interval[0]).toBeCloseTo(value - 1.96 * sigma, 1);
    expect(interval[1]).toBeCloseTo(value + 1.96 * sigma, 1);
  });

  test('on frequencies is within five of the standard deviations that the consumer knows', async () => {
    const maximumFrequency = 4;
    const { reach, frequency, frequencyNoiseMechanism } = await measured(
      { type: 'reachAndFrequency', maximumFrequency },
      maximumFrequency,
    );
    const total = truth(maximumFrequency);
    expect(frequencyNoiseMechanism).toBe(noiseMechanism);
    expect(reach!.standardDeviation).toBeCloseTo(sigma, 9);
    expect(Math.abs(reach!.value - total.size)).toBeLessThan(5 * sigma);
    const expected = distribution(total, maximumFrequency);
    expect(frequency).toHaveLength(maximumFrequency);
    for (const { frequency: times, share, count } of frequency!) {
      const exact = expected[times] ?? 0;
      expect(Math.abs(share.value - exact)).toBeLessThan(5 * share.standardDeviation);
      expect(Math.abs(count.value - exact * total.size)).toBeLessThan(5 * count.standardDeviation);
      // The highest one is what the others leave, so it has the noise of all of them.
      const noises = times === maximumFrequency ? maximumFrequency : 1;
      expect(count.standardDeviation).toBeCloseTo(Math.sqrt(noises) * sigma, 6);
    }
  });

  if (noiseMechanism === 'DISCRETE_GAUSSIAN') {
    test('is the same where a stage is repeated, which computes the same bytes', async () => {
      const measurement = await world.ask();
      await world.turn();
      await uploadAll(world, measurement, AUDIENCES);
      const { duchy, herald, mill } = world.of('FIRST_WORKER');
      await herald.once();
      await mill.once();
      await world.of('SECOND_WORKER').mill.once();
      const [computation] = await pendingComputations(duchy.db);
      expect(computation!.stage).toBe('SHUFFLE_PHASE');
      const { signal } = new AbortController();
      const work = { duchy, computation: computation!, signal, onProgress: () => {} };
      const { run } = rowOf(computation!)!;
      const once = (await run!(work))!;
      expect(once.length).toBeGreaterThan(1000);
      expect(Buffer.from(once).equals((await run!(work))!)).toBe(true);
      expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
    });
  }
});
