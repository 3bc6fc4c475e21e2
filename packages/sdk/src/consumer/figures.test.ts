import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type PlainSpec, specs } from '@measurement-exchange/contract';
import { noiseVariance } from '@measurement-exchange/mpc';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FiguresFault, figuresOf } from './figures.ts';

type ResultInit = Exclude<MessageInitShape<typeof specs.Measurement_ResultSchema>, { $typeName: string }>;
const figures = (spec: PlainSpec, result: ResultInit) =>
  figuresOf(spec, create(specs.Measurement_ResultSchema, result));

const M = specs.ProtocolConfig_NoiseMechanism;
const privacy = { epsilon: 0.5, delta: 1e-9 };
const counted = { case: 'deterministicCountDistinct', value: {} } as const;
const sampled = (width: number) => ({ nonceHashes: [], vidSamplingInterval: { start: 0, width } });

const reachSpec = (width = 1): PlainSpec => ({
  ...sampled(width),
  measurementType: 'REACH',
  reach: { privacyParams: privacy },
});
const frequencySpec = (width = 1, maximumFrequency = 3): PlainSpec => ({
  ...sampled(width),
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: { reachPrivacyParams: privacy, frequencyPrivacyParams: privacy, maximumFrequency },
});
const impressionSpec = (width = 1): PlainSpec => ({
  ...sampled(width),
  measurementType: 'IMPRESSION',
  impression: { privacyParams: privacy, maximumFrequencyPerUser: 10 },
});
const durationSpec = (maximum: number, width = 1): PlainSpec => ({
  ...sampled(width),
  measurementType: 'DURATION',
  duration: { privacyParams: privacy, maximumWatchDurationPerUser: maximum },
});
const reach = (more: NonNullable<ResultInit['reach']> = {}): ResultInit => ({
  reach: { value: 10_000n, noiseMechanism: M.CONTINUOUS_LAPLACE, methodology: counted, ...more },
});

describe('the variance of a reach', () => {
  it('is the variance of the noise without sampling', () => {
    const { reach: estimate, noiseMechanism, methodology } = figures(reachSpec(), reach());
    // The variance of Laplace noise is 2 / ε², with ε = 0.5.
    expect(estimate).toMatchObject({ value: 10_000, variance: 8 });
    expect(estimate!.interval[0]).toBeCloseTo(10_000 - 1.96 * Math.sqrt(8), 3);
    expect([noiseMechanism, methodology]).toEqual(['CONTINUOUS_LAPLACE', 'deterministicCountDistinct']);
  });

  it('includes the sampling variance with a sample of width 1/4', () => {
    // The variance is (X w (1 − w) + V) / w², with the value X = 10,000, the sample width w = 1/4, and the noise
    // variance V = 8.
    expect(figures(reachSpec(0.25), reach()).reach!.variance).toBe(10_000 * 3 + 8 * 16);
  });

  it.each(
    Object.entries(M)
      .filter(([, number]) => number > 0)
      .map(([name]) => name as keyof typeof M),
  )('is the variance of the noise %s', (name) => {
    const { reach: estimate, noiseMechanism } = figures(reachSpec(), reach({ noiseMechanism: M[name] }));
    expect(noiseMechanism).toBe(name);
    expect(estimate!.variance).toBe(noiseVariance(name as 'NONE', privacy));
  });

  it('is the stated one for a custom methodology, and Infinity if it is unavailable or invalid', () => {
    const custom = (type: object) =>
      figures(
        reachSpec(),
        reach({ methodology: { case: 'customDirectMethodology', value: { variance: { type } } } } as never),
      ).reach!.variance;
    expect(custom({ case: 'scalar', value: 123 })).toBe(123);
    expect(custom({ case: 'unavailable', value: {} })).toBe(Number.POSITIVE_INFINITY);
    // An invalid variance counts as unknown, which is represented by Infinity.
    expect(custom({ case: 'scalar', value: -1 })).toBe(Number.POSITIVE_INFINITY);
    expect(custom({ case: 'scalar', value: Number.NaN })).toBe(Number.POSITIVE_INFINITY);
  });

  it.each<[string, NonNullable<ResultInit['reach']>]>([
    ['without a mechanism', { noiseMechanism: M.NOISE_MECHANISM_UNSPECIFIED }],
    ['with an unknown mechanism', { noiseMechanism: 42 as never }],
    ['without a methodology', { methodology: { case: undefined } }],
    ['with a multi-party methodology', { methodology: { case: 'liquidLegionsV2', value: {} } }],
  ])('is Infinity %s', (_what, more) => {
    const { reach: estimate } = figures(reachSpec(), reach(more));
    expect(estimate).toMatchObject({ value: 10_000, interval: [0, Number.POSITIVE_INFINITY] });
    expect(estimate!.variance).toBe(Number.POSITIVE_INFINITY);
  });

  it('is Infinity with Gaussian noise and a delta of 0', () => {
    const spec = { ...reachSpec(), reach: { privacyParams: { epsilon: 1, delta: 0 } } } as PlainSpec;
    const result = reach({ noiseMechanism: M.CONTINUOUS_GAUSSIAN });
    expect(figures(spec, result).reach!.variance).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a frequency distribution', () => {
  const distribution = { '1': 0.5, '2': 0.3, '3': 0.2 };
  const result = (more: NonNullable<ResultInit['frequency']> = {}): ResultInit => ({
    ...reach(),
    frequency: {
      relativeFrequencyDistribution: distribution,
      noiseMechanism: M.GEOMETRIC,
      methodology: { case: 'deterministicDistribution', value: {} },
      ...more,
    },
  });

  it('has a share and a number of people for each frequency', () => {
    const { frequency, frequencyNoiseMechanism, frequencyMethodology } = figures(frequencySpec(), result());
    expect(frequency!.map((row) => [row.frequency, row.share.value, row.count.value])).toEqual([
      [1, 0.5, 5000],
      [2, 0.3, 3000],
      [3, 0.2, 2000],
    ]);
    expect([frequencyNoiseMechanism, frequencyMethodology]).toEqual([
      'GEOMETRIC',
      'deterministicDistribution',
    ]);
    // The variance of the share is V_p = [(1 − 2p) + p² F] V / R², with the share p = 0.3, the maximum frequency F = 3,
    // the noise variance V of one frequency, and the reach R. The variance of the count is V_p V_R + V_p R² + V_R p²,
    // with the variance V_R of the reach.
    const share = ((1 - 0.6 + 0.09 * 3) * noiseVariance('GEOMETRIC', privacy)) / 10_000 ** 2;
    expect(frequency![1]!.share.variance).toBeCloseTo(share, 15);
    expect(frequency![1]!.count.variance).toBeCloseTo(share * 8 + share * 1e8 + 8 * 0.09, 6);
  });

  it('has the number of people at each frequency or more, with the variance of all its counts', () => {
    const { frequency, reach } = figures(frequencySpec(), result());
    expect(frequency!.map(({ atLeast }) => atLeast.value)).toEqual([10_000, 5000, 2000]);
    expect(frequency![0]!.atLeast).toEqual(reach);
    // The variance of the share is [(1 − 2p) B + p² F] V / R², with the share p = 0.5 of people at frequency 2 or more,
    // B = 2 frequencies in this share, and the maximum frequency F = 3. V and R are as in the test above.
    const share = (0.25 * 3 * noiseVariance('GEOMETRIC', privacy)) / 10_000 ** 2;
    expect(frequency![1]!.atLeast.variance).toBeCloseTo(share * 8 + share * 1e8 + 8 * 0.25, 6);
  });

  it('has every frequency up to the maximum, with a share of 0 for missing ones', () => {
    const sparse = result({ relativeFrequencyDistribution: { '2': 1 } });
    expect(figures(frequencySpec(1, 4), sparse).frequency!.map(({ share }) => share.value)).toEqual([
      0, 1, 0, 0,
    ]);
  });

  it.each<Record<string, number>>([{}, { '1': 0, '2': 0 }])(
    'is empty for a reach of 0: %o',
    (relativeFrequencyDistribution) => {
      const nobody = { ...result({ relativeFrequencyDistribution }), ...reach({ value: 0n }) };
      expect(figures(frequencySpec(1, 4), nobody)).toMatchObject({ reach: { value: 0 }, frequency: [] });
    },
  );

  it('has the variance of a uniform distribution for a share if the reach may be 0', () => {
    const { frequency } = figures(frequencySpec(), { ...result(), ...reach({ value: 1n }) });
    expect(frequency![0]!.share).toMatchObject({ variance: 1 / 12, interval: [0, expect.any(Number)] });
    expect(frequency![0]!.share.interval[1]).toBeLessThanOrEqual(1);
  });

  it('has the variances of a custom methodology, and Infinity for missing ones', () => {
    const value = { variance: { type: { case: 'frequency', value: { variances: { '1': 0.01 } } } } } as const;
    const own = result({ methodology: { case: 'customDirectMethodology', value } });
    const { frequency } = figures(frequencySpec(), own);
    expect(frequency!.map(({ share }) => share.variance)).toEqual([
      0.01,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    expect(frequency![1]!.share.interval).toEqual([0, 1]);
    expect(frequency![1]!.count.variance).toBe(Number.POSITIVE_INFINITY);
  });

  it.each<[string, Record<string, number>]>([
    ['a frequency of 0', { '0': 1 }],
    ['a frequency above the maximum', { '4': 1 }],
    ['a negative share', { '1': -0.1 }],
    ['a share above 1', { '1': 1.1 }],
    ['a share of NaN', { '1': Number.NaN }],
  ])('throws RESULT_MALFORMED for %s', (_what, relativeFrequencyDistribution) => {
    expect(() => figures(frequencySpec(), result({ relativeFrequencyDistribution }))).toThrow(
      expect.objectContaining({ code: 'RESULT_MALFORMED' }),
    );
  });
});

describe('impressions and durations', () => {
  const impression = (value: object = {}): ResultInit => ({
    impression: {
      value: 50_000n,
      noiseMechanism: M.CONTINUOUS_LAPLACE,
      methodology: { case: 'deterministicCount', value },
    },
  });

  it('have the noise variance of the cap per person, plus the sampling variance', () => {
    // The variance is M² · 2/ε² = 100 · 8, with the cap M = 10 and ε = 0.5.
    expect(figures(impressionSpec(), impression()).impressions).toMatchObject({
      value: 50_000,
      variance: 800,
    });
    // The variance is (M X w (1 − w) + 800) / w², with the cap M = 10, the value X = 50,000, and the sample width
    // w = 1/2.
    expect(figures(impressionSpec(0.5), impression()).impressions!.variance).toBe(
      (10 * 50_000 * 0.25 + 800) * 4,
    );
  });

  it('use the cap that the data provider states, and have the variance Infinity without a cap', () => {
    const custom = impression({ customMaximumFrequencyPerUser: 2 });
    expect(figures(impressionSpec(), custom).impressions!.variance).toBe(4 * 8);
    // Without a cap, the contribution of one person is not bounded.
    const uncapped = impression({ customMaximumFrequencyPerUser: -1 });
    expect(figures(impressionSpec(), uncapped).impressions!.variance).toBe(Number.POSITIVE_INFINITY);
  });

  it('have variances of durations in seconds, with geometric noise drawn in milliseconds', () => {
    const watch = (noiseMechanism: specs.ProtocolConfig_NoiseMechanism): ResultInit => ({
      watchDuration: {
        value: { seconds: 1234n, nanos: 500_000_000 },
        noiseMechanism,
        methodology: { case: 'deterministicSum', value: {} },
      },
    });
    const { watchDurationSeconds } = figures(durationSpec(2.5), watch(M.CONTINUOUS_LAPLACE));
    expect(watchDurationSeconds!.value).toBe(1234.5);
    expect(watchDurationSeconds!.variance).toBeCloseTo(2.5 ** 2 * 8, 9);
    const geometric = figures(durationSpec(2.5), watch(M.GEOMETRIC)).watchDurationSeconds!.variance;
    expect(geometric).toBeCloseTo(noiseVariance('GEOMETRIC', privacy, 2500) / 1e6, 9);
    // The variance is (D X w (1 − w) + D² V) / w², with the cap D = 2, the value X = 1234.5, the sample width w = 0.5,
    // and the noise variance V = 0.
    const half = figures(durationSpec(2, 0.5), watch(M.NONE)).watchDurationSeconds!.variance;
    expect(half).toBeCloseTo(2 * 1234.5, 6);
  });
});

it('a population is returned unchanged with a variance of 0', () => {
  const spec: PlainSpec = { nonceHashes: [], measurementType: 'POPULATION' };
  const population = { value: 83_000_000n, methodology: { case: 'deterministicCount', value: {} } } as const;
  expect(figures(spec, { population })).toMatchObject({
    population: { value: 83_000_000, variance: 0, interval: [83_000_000, 83_000_000] },
    noiseMechanism: 'NONE',
    methodology: 'deterministicCount',
  });
});

it.each<[string, PlainSpec, ResultInit]>([
  ['impressions instead of a reach', reachSpec(), { impression: { value: 1n } }],
  ['a missing reach in a reach and frequency', frequencySpec(), { frequency: {} }],
  ['a missing frequency in a reach and frequency', frequencySpec(), reach()],
  ['a reach instead of impressions', impressionSpec(), reach()],
  ['a reach instead of a duration', durationSpec(1), reach()],
  ['an empty result for a population', { nonceHashes: [], measurementType: 'POPULATION' }, {}],
])('figuresOf throws RESULT_TYPE_MISMATCH for %s', (_what, spec, result) => {
  expect(() => figures(spec, result)).toThrow(FiguresFault);
  expect(() => figures(spec, result)).toThrow(expect.objectContaining({ code: 'RESULT_TYPE_MISMATCH' }));
});

it('every interval contains its value, without NaN', () => {
  const mechanism = fc.constantFrom(...(Object.values(M) as specs.ProtocolConfig_NoiseMechanism[]));
  const value = fc.bigInt({ min: 0n, max: 10n ** 12n });
  const width = fc.constantFrom(1, 0.5, 0.25, 2 ** -10);
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(mechanism, mechanism, value, width, share, (noise, frequencyNoise, reached, w, p) => {
      const result: ResultInit = {
        ...reach({ value: reached, noiseMechanism: noise }),
        frequency: {
          relativeFrequencyDistribution: { '1': p, '2': 1 - p },
          noiseMechanism: frequencyNoise,
          methodology: { case: 'deterministicDistribution', value: {} },
        },
      };
      const { reach: r, frequency } = figures(frequencySpec(w), result);
      for (const { value: v, variance, interval } of [r!, ...frequency!.flatMap((f) => [f.share, f.count])]) {
        expect(variance).toBeGreaterThanOrEqual(0);
        expect(interval[0]).toBeLessThanOrEqual(v);
        expect(interval[1]).toBeGreaterThanOrEqual(v);
      }
    }),
    { numRuns: rounds(300) },
  );
});
