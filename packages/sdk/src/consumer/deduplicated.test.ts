import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type MpcNoiseMechanism, type PlainSpec, specs } from '@measurement-exchange/contract';
import { shareShuffleReachVariance } from '@measurement-exchange/mpc';
import { expect, it } from 'vitest';
import { deduplicatedFigures } from './deduplicated.ts';
import { duchyProtocolOf } from './protocol.ts';

const PRIVACY = { epsilon: 0.1, delta: 1e-9 };
const FREQUENCY_PRIVACY = { epsilon: 1, delta: 1e-9 };
const MAXIMUM = 4;

const config = (noiseMechanism: MpcNoiseMechanism) =>
  duchyProtocolOf({
    honestMajorityShareShuffle: {
      firstWorker: 'duchies/alpha',
      secondWorker: 'duchies/beta',
      aggregator: 'duchies/gamma',
      noiseMechanism,
      ringModulus: 127,
      population: 'populations/everybody',
      populationFingerprint: new Uint8Array(32),
    },
  })!;
const spec = (width: number): PlainSpec => ({
  nonceHashes: [],
  vidSamplingInterval: { start: 0, width },
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: {
    reachPrivacyParams: PRIVACY,
    frequencyPrivacyParams: FREQUENCY_PRIVACY,
    maximumFrequency: MAXIMUM,
  },
});
type Init = MessageInitShape<typeof specs.Measurement_ResultSchema>;
const result = (noise: MpcNoiseMechanism, size: bigint, value: bigint, shares: Record<string, number>) => {
  const how = {
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism[noise],
    methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: size } },
  } as const;
  const init: Init = {
    reach: { value, ...how },
    frequency: { relativeFrequencyDistribution: shares, ...how },
  };
  return create(specs.Measurement_ResultSchema, init);
};

/**
 * The variance of the total noise: the sum of both workers' variances, plus the same amount from the aggregator. The
 * formulas share no code with the product.
 */
const NOISE_VARIANCES = {
  DISCRETE_GAUSSIAN: ({ epsilon, delta }: typeof PRIVACY) => (2 * 2 * Math.log(2.5 / delta)) / epsilon ** 2,
  GEOMETRIC({ epsilon }: typeof PRIVACY) {
    const q = Math.exp(-epsilon / 2);
    return (2 * 2 * q) / (1 - q) ** 2;
  },
  NONE: () => 0,
};

it.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC', 'NONE'] as const)(
  'variances include the sampling error and the %s noise of both workers and the aggregator',
  (mechanism) => {
    const shares = { 1: 0.5, 2: 0.3, 4: 0.2 };
    const figures = deduplicatedFigures(
      spec(0.125),
      result(mechanism, 125_000n, 80_000n, shares),
      config(mechanism),
    );
    const expected = shareShuffleReachVariance({
      reach: 80_000,
      frequencyVectorSize: 125_000,
      width: 0.125,
      noiseVariance: NOISE_VARIANCES[mechanism](PRIVACY),
    });
    expect(figures.reach!.variance / expected).toBeCloseTo(1, 6);
    expect(figures).toMatchObject({ noiseMechanism: mechanism, frequencyNoiseMechanism: mechanism });
    const [one, two, three, four] = figures.frequency!;
    expect([one, two, three, four].map((each) => each!.count.value)).toEqual([40_000, 24_000, 0, 16_000]);
    // A smaller count has a smaller sampling error. A count of 0 has only the error of the noise.
    expect(one!.count.variance).toBeGreaterThan(two!.count.variance);
    expect(three!.count.variance).toBeCloseTo(64 * NOISE_VARIANCES[mechanism](FREQUENCY_PRIVACY), 4);
    for (const { share } of figures.frequency!) {
      expect(share.interval[0]).toBeGreaterThanOrEqual(0);
      expect(share.interval[1]).toBeLessThanOrEqual(1);
      expect(share.variance).toBeLessThan(0.001);
    }
  },
);

it('variances are 0 without noise and without sampling', () => {
  const exact = deduplicatedFigures(
    spec(1),
    result('NONE', 1000n, 600n, { 1: 0.75, 4: 0.25 }),
    config('NONE'),
  );
  expect(exact.reach).toMatchObject({ value: 600, variance: 0, interval: [600, 600] });
  expect(exact.frequency!.map(({ share }) => share.variance)).toEqual([0, 0, 0, 0]);
});

it('a share above 1 and a frequency above the maximum are rejected', () => {
  const read = (shares: Record<string, number>) => () =>
    deduplicatedFigures(spec(1), result('NONE', 1000n, 600n, shares), config('NONE'));
  expect(read({ 1: 1.5 })).toThrow('not between 0 and 1');
  expect(read({ 5: 0.5 })).toThrow('outside 1 to 4');
});

it('a reach of 0 has the interval of its noise and no frequency distribution', () => {
  const nobody = (mechanism: MpcNoiseMechanism, size: bigint) =>
    deduplicatedFigures(spec(1), result(mechanism, size, 0n, {}), config(mechanism));
  expect(nobody('NONE', 1000n)).toMatchObject({
    reach: { value: 0, variance: 0, interval: [0, 0] },
    frequency: [],
    frequencyNoiseMechanism: 'NONE',
    frequencyMethodology: 'honestMajorityShareShuffle',
  });
  const noisy = nobody('DISCRETE_GAUSSIAN', 100_000n);
  expect(noisy.frequency).toEqual([]);
  const deviation = Math.sqrt(NOISE_VARIANCES.DISCRETE_GAUSSIAN(PRIVACY));
  expect(noisy.reach!.interval[0]).toBe(0);
  expect(noisy.reach!.interval[1] / (1.96 * deviation)).toBeCloseTo(1, 3);
});
