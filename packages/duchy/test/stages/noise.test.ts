/**
 * Tests deduplicated figures with noise, from the exchange's noise setting to the consumer's confidence intervals.
 * Seeds are fixed, so the noise is the same every time.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { decrypt, unpackSignedMessage } from '@measurement-exchange/consent';
import { type Measurement, specs } from '@measurement-exchange/contract';
import { noiseRegisters } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/noiseRegisters';
import { findResultKeyset } from '@measurement-exchange/sdk';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { planOf } from '../../src/computations/plan.ts';
import { pendingComputations, readSecrets, type StoredComputation } from '../../src/database/index.ts';
import { runStage } from '../../src/protocols.ts';
import { AUDIENCES, distribution, truth } from './audiences.ts';
import { openResult } from './results.ts';
import { uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld } from './world.ts';

vi.mock('@measurement-exchange/mpc/shares', async (original) =>
  (await import('../fixedSeeds.ts')).withFixedSeeds(await original<object>()),
);

vi.mock(
  '../../src/protocols/honestMajorityShareShuffle/shuffleThread.ts',
  () => import('../shuffleInProcess.ts'),
);

const PRIVACY = { epsilon: 1, delta: 1e-9 };
const FREQUENCY_PRIVACY = { epsilon: 2, delta: 1e-6 };
/**
 * The variance of the total noise: the sum of both workers' variances, doubled because the aggregator adds noise with
 * the same variance as this sum. The formulas share no code with the product.
 */
const VARIANCES = {
  DISCRETE_GAUSSIAN: ({ epsilon, delta }: typeof PRIVACY) => (2 * 2 * Math.log(2.5 / delta)) / epsilon ** 2,
  GEOMETRIC: ({ epsilon }: typeof PRIVACY) => 1 / Math.sinh(epsilon / 4) ** 2,
};

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s noise', (noiseMechanism) => {
  const [variance, frequencyVariance] = [PRIVACY, FREQUENCY_PRIVACY].map(VARIANCES[noiseMechanism]) as [
    number,
    number,
  ];
  const sigma = Math.sqrt(variance);
  let world: DuchyWorld;
  beforeAll(async () => {
    world = await startDuchyWorld({ noiseMechanism });
  });
  afterAll(async () => {
    expect(await world.stop()).toEqual([]);
  });

  /** Measures all audiences and returns the consumer's deduplicated figures. */
  async function measured(...[changes, cap]: [changes?: Parameters<DuchyWorld['ask']>[0], cap?: number]) {
    const measurement = await world.ask({ privacy: PRIVACY, ...changes });
    expect(measurement.protocolConfig!.honestMajorityShareShuffle).toMatchObject({ noiseMechanism });
    await world.turn();
    await uploadAll(world, measurement, AUDIENCES, { ...(cap && { cap }) });
    const { total } = await world.consumer.open(await world.finish(measurement));
    return total.deduplicated!;
  }

  // Except in stress runs, test each mechanism with only one of the figures. figures.test.ts in the mpc package tests
  // both mechanisms with both figures.
  const isOn = (mechanism: typeof noiseMechanism) => isStress || noiseMechanism === mechanism;

  test.runIf(isOn('DISCRETE_GAUSSIAN'))(
    'on a reach is below five standard deviations, and the result states the standard deviation',
    async () => {
      const { reach, noiseMechanism: stated, methodology } = await measured();
      expect({ stated, methodology }).toEqual({
        stated: noiseMechanism,
        methodology: 'honestMajorityShareShuffle',
      });
      const { value, standardDeviation, interval } = reach!;
      expect(standardDeviation).toBeCloseTo(sigma, 6);
      expect(value).not.toBe(truth(1).size);
      expect(Math.abs(value - truth(1).size)).toBeLessThan(5 * sigma);
      expect(interval[0]).toBeCloseTo(value - 1.96 * sigma, 1);
      expect(interval[1]).toBeCloseTo(value + 1.96 * sigma, 1);
    },
  );

  test.runIf(isOn('GEOMETRIC'))(
    'on frequencies is below five of the standard deviations that the result states',
    async () => {
      const maximumFrequency = 4;
      const { reach, frequency, frequencyNoiseMechanism } = await measured(
        { type: 'reachAndFrequency', maximumFrequency, frequencyPrivacy: FREQUENCY_PRIVACY },
        maximumFrequency,
      );
      const total = truth(maximumFrequency);
      expect(frequencyNoiseMechanism).toBe(noiseMechanism);
      expect(reach!.standardDeviation).toBeCloseTo(sigma, 6);
      expect(Math.abs(reach!.value - total.size)).toBeLessThan(5 * sigma);
      const expected = distribution(total, maximumFrequency);
      expect(frequency).toHaveLength(maximumFrequency);
      for (const { frequency: times, share, count } of frequency!) {
        const exact = expected[times] ?? 0;
        expect(Math.abs(share.value - exact)).toBeLessThan(5 * share.standardDeviation);
        expect(Math.abs(count.value - exact * total.size)).toBeLessThan(5 * count.standardDeviation);
        // The count of the highest frequency is the total minus all other counts. Its variance is therefore the sum of
        // the variances of the total and of the other counts.
        const rest = variance + (maximumFrequency - 1) * frequencyVariance;
        expect(count.variance).toBeCloseTo(times === maximumFrequency ? rest : frequencyVariance, 1);
      }
    },
  );

  if (noiseMechanism === 'DISCRETE_GAUSSIAN') {
    const begin = async () => {
      const measurement = await world.ask();
      await world.turn();
      await uploadAll(world, measurement, AUDIENCES);
      return measurement;
    };
    /** A measurement at its shuffle stage. The test of the aggregator below continues it. */
    let begun: Measurement | undefined;

    test('of a worker is identical if its stage is repeated: the output has the same bytes', async () => {
      begun = await begin();
      const { duchy, herald, mill } = world.of('FIRST_WORKER');
      await herald.once();
      await mill.once();
      await world.of('SECOND_WORKER').mill.once();
      const [computation] = await pendingComputations(duchy.db);
      expect(computation!.stage).toBe('SHUFFLE_PHASE');
      const { signal } = new AbortController();
      const work = { duchy, computation: computation!, signal, onProgress: () => {} };
      const once = (await runStage(work))!;
      expect(once.length).toBeGreaterThan(1000);
      expect(Buffer.from(once).equals((await runStage(work))!)).toBe(true);
    });

    test('of the aggregator is identical if its stage is repeated, and different in another computation', async () => {
      const parts: number[] = [];
      for (let i = 0; i < 2; i++) {
        const measurement = (i === 0 && begun) || (await begin());
        const computation = await atAggregation();
        const { signal } = new AbortController();
        const { duchy } = world.of('AGGREGATOR');
        const work = { duchy, computation, signal, onProgress: () => {} };
        const stage = () => runStage(work);
        const result = await opened(measurement, (await stage())!);
        expect(await opened(measurement, (await stage())!)).toEqual(result);
        const { parameters } = planOf('honestMajorityShareShuffle', computation);
        const ofWorkers = (await workerSeeds(computation.id)).map(
          (seed) => noiseRegisters(parameters, seed).filter((value) => value !== 0).length,
        );
        const released = Number(result.reach!.value);
        parts.push(
          released - truth(1).size - ofWorkers[0]! - ofWorkers[1]! + 2 * parameters.reachNoise.offset,
        );
        expect((await world.finish(measurement)).state).toBe('SUCCEEDED');
        expect(await openResult(world, measurement)).toEqual(result);
      }
      expect(new Set([0, ...parts]).size).toBe(3);
    });

    /** Returns the aggregator's computation after both workers have sent their output. */
    async function atAggregation(): Promise<StoredComputation> {
      for (let turns = 0; turns < 20; turns++) {
        for (const { herald, mill, role } of world.duchies) {
          await herald.once();
          if (role !== 'AGGREGATOR') while (await mill.once());
        }
        const [computation] = await pendingComputations(world.of('AGGREGATOR').duchy.db);
        if (computation!.stage === 'AGGREGATION_PHASE') return computation!;
      }
      throw new Error('the aggregator waits');
    }

    async function workerSeeds(id: string): Promise<Uint8Array[]> {
      const workers = ['FIRST_WORKER', 'SECOND_WORKER'] as const;
      return Promise.all(
        workers.map(async (role) => (await readSecrets(world.of(role).duchy.db, id)).noiseSeed!),
      );
    }

    async function opened(measurement: Measurement, bytes: Uint8Array): Promise<specs.Measurement_Result> {
      const keyset = await findResultKeyset(world.acme, measurement);
      const { ciphertext } = fromBinary(specs.EncryptedMessageSchema, bytes);
      const { message } = unpackSignedMessage(await decrypt(keyset!, ciphertext));
      return fromBinary(specs.Measurement_ResultSchema, message);
    }
  }
});
