import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type PlainSpec, specs } from '@measurement-exchange/contract';
import { liquidLegionsReachInterval, mpcNoise } from '@measurement-exchange/mpc';
import { expect, it } from 'vitest';
import { deduplicatedFigures } from '../deduplicated.ts';
import { duchyProtocolOf } from '../protocol.ts';

/** All parameters differ, so that a test fails if one is used in place of another. */
const REACH_PRIVACY = { epsilon: 0.3, delta: 1e-9 };
const FREQUENCY_PRIVACY = { epsilon: 2, delta: 1e-7 };
const HISTOGRAM = { epsilon: 1, delta: 1e-8 };
const PUBLISHER = { epsilon: 0.7, delta: 1e-6 };
const WIDTH = 0.25;
const SKETCH = { decayRate: 9, maxSize: 2000 };

const computed = (noiseMechanism: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC') =>
  duchyProtocolOf({
    liquidLegionsV2: {
      ...{ ...SKETCH, noiseMechanism, samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
      ...{ workers: ['duchies/a', 'duchies/b', 'duchies/c'], aggregator: 'duchies/d' },
      ...{ histogramPrivacyParams: HISTOGRAM, publisherPrivacyParams: PUBLISHER },
    },
  })!;
const SPEC: PlainSpec = {
  nonceHashes: [],
  vidSamplingInterval: { start: 0, width: WIDTH },
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: {
    reachPrivacyParams: REACH_PRIVACY,
    frequencyPrivacyParams: FREQUENCY_PRIVACY,
    maximumFrequency: 3,
  },
};

function read(
  noise: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC',
  value: bigint,
  relativeFrequencyDistribution: Record<string, number>,
  noiseMechanism: specs.ProtocolConfig_NoiseMechanism = specs.ProtocolConfig_NoiseMechanism[noise],
) {
  const methodology = { case: 'liquidLegionsV2', value: {} } as const;
  const init: MessageInitShape<typeof specs.Measurement_ResultSchema> = {
    reach: { value, noiseMechanism, methodology },
    frequency: { relativeFrequencyDistribution, noiseMechanism, methodology },
  };
  return deduplicatedFigures(SPEC, create(specs.Measurement_ResultSchema, init), computed(noise));
}

it.each([
  ['DISCRETE_GAUSSIAN', 0],
  ['GEOMETRIC', 3],
] as const)(
  'the interval of a reach is computed from the %s noise of the four duchies',
  (noise, excessKurtosis) => {
    const { reach } = read(noise, 40_000n, { '1': 0.5, '3': 0.5 });
    const { variance: noiseVariance } = mpcNoise(noise, REACH_PRIVACY, { workers: 4, sensitivity: 1 });
    const params = { ...SKETCH, reach: 40_000, width: WIDTH, noiseVariance, excessKurtosis };
    expect(reach!.value).toBe(40_000);
    expect(reach!.interval).toEqual(liquidLegionsReachInterval(params));
  },
);

it('counts of people have asymmetric intervals, wider than those that follow from the reach alone', () => {
  const { reach, frequency } = read('DISCRETE_GAUSSIAN', 40_000n, { '1': 0.75, '2': 0.25 });
  const [often] = frequency!;
  expect(often!.count.value).toBe(30_000);
  const [low, high] = often!.count.interval;
  // The interval must be wider than the interval that the uncertainty of the reach alone would cause.
  expect(low).toBeLessThan(0.75 * reach!.interval[0]);
  expect(high).toBeGreaterThan(0.75 * reach!.interval[1]);
  expect(high - 30_000).toBeGreaterThan(1.1 * (30_000 - low));
});

it('a share has the interval from 0 to 1 if its counts may be only noise', () => {
  const { frequency } = read('DISCRETE_GAUSSIAN', 20n, { '1': 0.9, '2': 0.1 });
  expect(frequency![0]!.share).toMatchObject({ value: 0.9, variance: 1 / 12, interval: [0, 1] });
});

it('figures with unknown noise have the interval from 0 to Infinity', () => {
  const unnamed = specs.ProtocolConfig_NoiseMechanism.NOISE_MECHANISM_UNSPECIFIED;
  const { reach, frequency } = read('DISCRETE_GAUSSIAN', 40_000n, { '1': 1 }, unnamed);
  expect(reach!.interval).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(frequency![0]!.count.interval).toEqual([0, Number.POSITIVE_INFINITY]);
});

it('a reach of 0 has a finite interval from 0, and no frequencies', () => {
  const { reach, frequency } = read('DISCRETE_GAUSSIAN', 0n, {});
  expect(reach).toMatchObject({ value: 0, interval: [0, expect.any(Number)] });
  expect(Number.isFinite(reach!.interval[1])).toBe(true);
  expect(frequency).toEqual([]);
});
