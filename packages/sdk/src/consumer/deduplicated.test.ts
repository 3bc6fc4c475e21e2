import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type MpcNoiseMechanism, type PlainSpec, specs } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { mpcNoise, shareShuffleReachVariance } from '../privacy/index.ts';
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

it.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC', 'NONE'] as const)(
  'estimates the error from the sample and the %s noise of both workers',
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
      noiseVariance: mpcNoise(mechanism, PRIVACY).variance,
    });
    expect(figures.reach!.variance).toBe(expected);
    expect(figures).toMatchObject({ noiseMechanism: mechanism, frequencyNoiseMechanism: mechanism });
    const [one, two, three, four] = figures.frequency!;
    expect([one, two, three, four].map((each) => each!.count.value)).toEqual([40_000, 24_000, 0, 16_000]);
    // Fewer people are sampled with less error, and nobody with none but that of the noise.
    expect(one!.count.variance).toBeGreaterThan(two!.count.variance);
    expect(three!.count.variance).toBeCloseTo(64 * mpcNoise(mechanism, FREQUENCY_PRIVACY).variance, 6);
    for (const { share } of figures.frequency!) {
      expect(share.interval[0]).toBeGreaterThanOrEqual(0);
      expect(share.interval[1]).toBeLessThanOrEqual(1);
      expect(share.variance).toBeLessThan(0.001);
    }
  },
);

it('counts exactly without noise and with everybody in the sample', () => {
  const exact = deduplicatedFigures(
    spec(1),
    result('NONE', 1000n, 600n, { 1: 0.75, 4: 0.25 }),
    config('NONE'),
  );
  expect(exact.reach).toMatchObject({ value: 600, variance: 0, interval: [600, 600] });
  expect(exact.frequency!.map(({ share }) => share.variance)).toEqual([0, 0, 0, 0]);
});

it('does not believe a share of more than everybody, or a frequency beyond the last', () => {
  const read = (shares: Record<string, number>) => () =>
    deduplicatedFigures(spec(1), result('NONE', 1000n, 600n, shares), config('NONE'));
  expect(read({ 1: 1.5 })).toThrow('not between 0 and 1');
  expect(read({ 5: 0.5 })).toThrow('outside 1 to 4');
});
