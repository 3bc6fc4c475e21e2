import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { specs } from '@measurement-exchange/contract';
import { drawNoise, type NoiseMechanism, type RandomSource } from '@measurement-exchange/mpc';
import { capMillis, costInUnits, daysOf, EVERYBODY } from '@measurement-exchange/mpc/charges';
import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargesFor, computeResult, expectedCost, type Methodology, requireComputable } from './compute.ts';
import { type Events, openEvents } from './events.ts';
import { openPopulation } from './population.ts';
import type { VerifiedRequisition } from './verify.ts';

/** The number of people. Person v has v events of v seconds each on July 1. For example, person 9 has nine events. */
const PEOPLE = 9;
let directory: string;
let events: Events;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mex-compute-'));
  const rows = ['vid,timestamp,event_group,duration,age'];
  for (let vid = 1; vid <= PEOPLE; vid++) {
    for (let n = 0; n < vid; n++) rows.push(`${vid},2026-07-01 12:00:00,spring,${vid},${vid * 10}`);
  }
  await writeFile(join(directory, 'events.csv'), `${rows.join('\n')}\n`);
  events = await openEvents({ files: join(directory, 'events.csv'), threads: 1 });
});
afterAll(async () => {
  await events.close();
  await rm(directory, { recursive: true });
});

const noise = specs.ProtocolConfig_NoiseMechanism;
/** With such a large epsilon, every draw of the noise is 0, because the scale of the noise is a millionth. */
const EXACT = { epsilon: 1e6, delta: 0 };
const interval = { start: new Date('2026-07-01'), end: new Date('2026-07-02') };
const SPRING = { eventGroup: 'dataProviders/p/eventGroups/spring', reference: 'spring', interval };

type Spec = VerifiedRequisition['spec'];
function asking(type: object, changes: Partial<VerifiedRequisition> = {}): VerifiedRequisition {
  return {
    name: 'dataProviders/p/requisitions/r',
    measurement: 'measurementConsumers/acme/measurements/m',
    measurementConsumer: 'measurementConsumers/acme',
    spec: { nonceHashes: [], ...type } as unknown as Spec,
    selection: { events: [SPRING] },
    vidSampling: { start: 0, width: 1 },
    nonce: 1n,
    resultKeyset: new Uint8Array(),
    ...changes,
  };
}
const reach = (privacyParams = EXACT) => ({ measurementType: 'REACH', reach: { privacyParams } });
const frequency = (maximumFrequency: number, reachPrivacyParams = EXACT, frequencyPrivacyParams = EXACT) => ({
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency },
});
const impression = (maximumFrequencyPerUser: number, privacyParams = EXACT) => ({
  measurementType: 'IMPRESSION',
  impression: { privacyParams, maximumFrequencyPerUser },
});
const duration = (maximumWatchDurationPerUser: number, privacyParams = EXACT) => ({
  measurementType: 'DURATION',
  duration: { privacyParams, maximumWatchDurationPerUser },
});
const compute = (verified: VerifiedRequisition, options: Methodology & { random?: RandomSource } = {}) =>
  computeResult(verified, { events, ...options });

describe('a result with negligible noise', () => {
  it('of reach is the number of people in the sample divided by its width', async () => {
    const { reach: whole } = await compute(asking(reach()));
    expect(whole).toMatchObject({ value: 9n, noiseMechanism: noise.GEOMETRIC });
    expect(whole!.methodology.case).toBe('deterministicCountDistinct');
    // The buckets of persons 1, 2 and 3 are 0.68456, 0.86937 and 0.06482, so not everyone is in the sample.
    const sampled = asking(reach(), { vidSampling: { start: 0, width: 0.3 } });
    const inSample = await events.frequencies({ eventGroups: [SPRING], vidSampling: sampled.vidSampling }, 1);
    const { reach: part } = await compute(sampled);
    // 0.3 as a 32-bit float is slightly larger than 0.3.
    expect(part!.value).toBe(BigInt(Math.floor(Number(inSample[0]) / Math.fround(0.3))));
    expect(inSample[0]).toBeLessThan(9n);
  });

  it('is divided exactly by the width as a 32-bit float', async () => {
    const all = { ...events, frequencies: async () => [9n] } satisfies Events;
    const reachWith = async (width: number) =>
      (await compute(asking(reach(), { vidSampling: { start: 0, width } }), { events: all })).reach!.value;
    // 9 / fround(0.1) = 89.9999987. The floating-point division 9 / 0.1 would give 90.
    expect(await reachWith(0.1)).toBe(89n);
    // 9 / fround(0.9) = 10.0000003. The double nearest to 0.9 is slightly larger than 0.9, so an exact division by this
    // double would be rounded down to 9.
    expect(await reachWith(0.9)).toBe(10n);
  });

  it('of reach and frequency has a share for each frequency up to "F or more"', async () => {
    const { reach: total, frequency: shares } = await compute(asking(frequency(4)));
    expect(total!.value).toBe(9n);
    expect(shares!.relativeFrequencyDistribution).toEqual({ 1: 1 / 9, 2: 1 / 9, 3: 1 / 9, 4: 6 / 9 });
    expect(shares!.noiseMechanism).toBe(noise.GEOMETRIC);
    expect(shares!.methodology.case).toBe('deterministicDistribution');
  });

  it('of reach and frequency without people has only shares of 0', async () => {
    const nowhere = asking(frequency(3), { selection: { events: [{ ...SPRING, reference: 'autumn' }] } });
    const { reach: total, frequency: shares } = await compute(nowhere);
    expect(total!.value).toBe(0n);
    expect(shares!.relativeFrequencyDistribution).toEqual({ 1: 0, 2: 0, 3: 0 });
  });

  it('of impressions is capped for each person', async () => {
    const { impression: capped } = await compute(asking(impression(4)));
    // Person v has v impressions, of which at most 4 count: 1 + 2 + 3 + 6 × 4.
    expect(capped).toMatchObject({ value: 30n, noiseMechanism: noise.GEOMETRIC });
    expect(capped!.methodology).toMatchObject({
      case: 'deterministicCount',
      value: { customMaximumFrequencyPerUser: 0 },
    });
  });

  it("of impressions states the provider's cap if it is lower than the requested one", async () => {
    const { impression: own } = await compute(asking(impression(4)), { maximumFrequencyPerUser: 2 });
    expect(own!.value).toBe(17n);
    expect(own!.methodology.value).toMatchObject({ customMaximumFrequencyPerUser: 2 });
    for (const maximumFrequencyPerUser of [4, 20]) {
      const { impression: same } = await compute(asking(impression(4)), { maximumFrequencyPerUser });
      expect(same).toMatchObject({
        value: 30n,
        methodology: { value: { customMaximumFrequencyPerUser: 0 } },
      });
    }
  });

  it('of watch duration has whole milliseconds and is capped for each person', async () => {
    const { watchDuration } = await compute(asking(duration(10.25)));
    // Person v watched v × v seconds: 1 + 4 + 9 + 6 × 10.25.
    expect(watchDuration!.value).toMatchObject({ seconds: 75n, nanos: 500_000_000 });
    expect(watchDuration!.noiseMechanism).toBe(noise.GEOMETRIC);
    expect(watchDuration!.methodology.case).toBe('deterministicSum');
  });

  it('of a population is exact and is not charged', async () => {
    const population = openPopulation({
      subpopulations: [
        { vidRanges: [{ start: 1, end: 10 }], attributes: { age: 20 } },
        { vidRanges: [{ start: 11, end: 15 }], attributes: { age: 40 } },
      ],
    });
    const verified = asking(
      { measurementType: 'POPULATION' },
      { selection: { population: { filter: 'age > 30' } } },
    );
    const result = await computeResult(verified, { population });
    expect(result.population!.value).toBe(await population.count('age > 30'));
    expect(result.population!.methodology.case).toBe('deterministicCount');
    expect(chargesFor(verified, { population })).toEqual([]);
  });
});

describe('noise', () => {
  const params = { epsilon: 0.1, delta: 1e-9 };
  const cases: [NoiseMechanism, number][] = [
    ['DISCRETE_GAUSSIAN', noise.DISCRETE_GAUSSIAN],
    ['GEOMETRIC', noise.GEOMETRIC],
  ];

  it.each(cases)(
    'of the mechanism %s is added before the result is clamped at 0',
    async (mechanism, label) => {
      const drawn = (seed: string) => drawNoise(mechanism, params, 1n, seededRandom(seed));
      const seeds = Array.from({ length: 6 }, (_, i) => `seed ${i}`);
      for (const seed of seeds) {
        const verified = asking(reach(params));
        const { reach: result } = await compute(verified, { noise: mechanism, random: seededRandom(seed) });
        const noised = 9n + drawn(seed);
        expect(result).toMatchObject({ value: noised > 0n ? noised : 0n, noiseMechanism: label });
      }
      // Check that the clamp was tested on both sides: some seeds must give a positive value, and others a value of 0
      // or less.
      expect(new Set(seeds.map((seed) => 9n + drawn(seed) > 0n)).size).toBe(2);
    },
  );

  it('of impressions has the sensitivity of the cap, and noise of durations that of the cap in milliseconds', async () => {
    const random = () => seededRandom('sensitivity');
    const { impression: counted } = await compute(asking(impression(1000, params)), { random: random() });
    const noised = 45n + drawNoise('DISCRETE_GAUSSIAN', params, 1000n, random());
    expect(counted!.value).toBe(noised > 0n ? noised : 0n);
    const { watchDuration } = await compute(asking(duration(5, params)), { random: random() });
    // Person v watched v × v seconds, of which at most 5 count: 1 + 4 + 7 × 5.
    const millis = 40_000n + drawNoise('DISCRETE_GAUSSIAN', params, 5000n, random());
    const { seconds, nanos } = watchDuration!.value!;
    expect(seconds * 1000n + BigInt(nanos) / 1_000_000n).toBe(millis > 0n ? millis : 0n);
  });

  it('is drawn for the reach and for each bin, and shares are computed from the noisy bins', async () => {
    const sums = new Set<number>();
    for (const seed of Array.from({ length: 8 }, (_, i) => `bins ${i}`)) {
      const random = seededRandom(seed);
      const draws = Array.from({ length: 4 }, () => drawNoise('DISCRETE_GAUSSIAN', params, 1n, random));
      const bins = [1n, 1n, 7n].map((count, i) => Math.max(0, Number(count + draws[i + 1]!)));
      const sum = bins.reduce((a, b) => a + b, 0);
      const verified = asking(frequency(3, params, params));
      const { reach: total, frequency: shares } = await compute(verified, { random: seededRandom(seed) });
      expect(total!.value).toBe(9n + draws[0]! > 0n ? 9n + draws[0]! : 0n);
      const [one, two, more] = bins.map((bin) => (sum === 0 ? 0 : bin / sum));
      expect(shares!.relativeFrequencyDistribution).toEqual({ 1: one, 2: two, 3: more });
      sums.add(sum);
    }
    expect(sums.size).toBeGreaterThan(5);
  });

  it('is Gaussian for a figure with a delta above 0, and geometric for another one without', async () => {
    const { reach: total, frequency: shares } = await compute(asking(frequency(3, params, EXACT)));
    expect(total!.noiseMechanism).toBe(noise.DISCRETE_GAUSSIAN);
    expect(shares!.noiseMechanism).toBe(noise.GEOMETRIC);
  });

  it('that a hostile specification makes as large as possible fits into the result', async () => {
    const worst = { epsilon: 1e-6, delta: 0 };
    const vidSampling = { start: 0, width: 1e-6 };
    for (const seed of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const verified = asking(duration(366 * 86_400, worst), { vidSampling });
      const { watchDuration } = await compute(verified, { random: seededRandom(seed) });
      expect(watchDuration!.value!.seconds).toBeLessThanOrEqual(315_576_000_000n);
    }
  });
});

describe('charges', () => {
  const gaussian = { epsilon: 1, delta: 1e-9 };
  const laplace = { epsilon: 0.25, delta: 0 };
  const cost = (verified: VerifiedRequisition, methodology: Methodology = {}) =>
    chargesFor(verified, methodology).map((charge) => charge.cost);
  /**
   * Converts units to rho. For Gaussian noise, the tests expect s² / (2σ²), with the sensitivity s = 1 and the standard
   * deviation σ = 5.495 of the noise for epsilon 1 and delta 1e-9.
   */
  const rho = (units: { rho: bigint }) => Number(units.rho) / 1e12;

  it('are the full cost for each reference and each UTC day that its interval overlaps', () => {
    const interval = {
      start: new Date('2026-07-01T23:59:59.999Z'),
      end: new Date('2026-07-03T00:00:00.001Z'),
    };
    const summer = { ...SPRING, reference: 'summer', interval };
    const verified = asking(reach(laplace), { selection: { events: [SPRING, summer] } });
    expect(chargesFor(verified, {})).toEqual(
      [
        ['spring', '2026-07-01', 'events[0], day 1'],
        ['summer', '2026-07-01', 'events[1], day 1'],
        ['summer', '2026-07-02', 'events[1], day 2'],
        ['summer', '2026-07-03', 'events[1], day 3'],
      ].map(([reference, day, at]) => ({
        ...{ reference, day, at, slice: EVERYBODY },
        cost: costInUnits({ epsilon: 0.25 }),
      })),
    );
  });

  it('equal the result of expectedCost', () => {
    const { spec } = asking(reach(laplace));
    expect(expectedCost(spec, { direct: {} })).toEqual({ epsilon: 0.25, delta: 0, rho: 0 });
    expect(costInUnits(expectedCost(asking(reach(gaussian)).spec, { direct: {} }))).toEqual(
      cost(asking(reach(gaussian)))[0],
    );
  });

  it('are made once for a day of a reference that two event groups select', () => {
    const again = {
      ...SPRING,
      interval: { start: new Date('2026-07-01'), end: new Date('2026-07-03') },
    };
    const verified = asking(reach(laplace), { selection: { events: [SPRING, again] } });
    expect(chargesFor(verified, {}).map(({ reference, day, at }) => [reference, day, at])).toEqual([
      ['spring', '2026-07-01', 'events[0], day 1'],
      ['spring', '2026-07-02', 'events[1], day 2'],
    ]);
  });

  it('of Gaussian noise are only rho', () => {
    const [units] = cost(asking(reach(gaussian)));
    expect(units).toMatchObject({ epsilon: 0n, delta: 0n });
    expect(rho(units!)).toBeCloseTo(1 / (2 * 5.495 ** 2), 4);
  });

  it('of reach and frequency are the charge of the reach plus twice the charge of a bin', () => {
    expect(cost(asking(frequency(5, laplace, { epsilon: 0.5, delta: 0 })))).toEqual([
      costInUnits({ epsilon: 0.25 + 2 * 0.5 }),
    ]);
    const [one] = cost(asking(reach(gaussian)));
    const [both] = cost(asking(frequency(5, gaussian, gaussian)));
    expect(rho(both!)).toBeCloseTo(3 * rho(one!), 10);
  });

  it('do not depend on the cap', () => {
    const [one] = cost(asking(reach(gaussian)));
    for (const asked of [impression(50, gaussian), duration(3600, gaussian)]) {
      const [units] = cost(asking(asked));
      expect(rho(units!)).toBeCloseTo(rho(one!), 4);
    }
    expect(cost(asking(impression(50, laplace)))).toEqual([costInUnits({ epsilon: 0.25 })]);
  });

  it('follow the noise mechanism of the provider', () => {
    expect(cost(asking(reach(gaussian)), { noise: 'GEOMETRIC' })).toEqual([costInUnits({ epsilon: 1 })]);
  });
});

describe('requireComputable', () => {
  const declined = (verified: VerifiedRequisition, methodology: Methodology) => () =>
    requireComputable(verified, methodology);
  const population = asking({ measurementType: 'POPULATION' }, { selection: { population: {} } });

  it.each<[string, () => Promise<unknown>]>([
    ['a population measurement without a population', declined(population, {})],
    ['an event measurement without events', declined(asking(reach()), {})],
    ['Gaussian noise without a delta', declined(asking(reach()), { noise: 'DISCRETE_GAUSSIAN' })],
  ])('refuses %s with DECLINED', async (_what, check) => {
    await expect(check()).rejects.toThrow(
      expect.objectContaining({ name: 'RefusalError', justification: 'DECLINED' }),
    );
  });

  it('refuses watch durations with DECLINED if none are recorded', async () => {
    const silent = { ...events, hasDuration: false };
    await expect(declined(asking(duration(5)), { events: silent })()).rejects.toThrow(
      expect.objectContaining({ justification: 'DECLINED' }),
    );
  });
});

it('capMillis truncates seconds to whole milliseconds, without errors of binary fractions', () => {
  expect([0.001, 0.0019, 1.001, 4.35, 8.2, 3600].map(capMillis)).toEqual([
    1n,
    1n,
    1001n,
    4350n,
    8200n,
    3_600_000n,
  ]);
});

it('daysOf returns UTC days, without the last day if the interval ends at midnight', () => {
  const days = (start: string, end: string) => daysOf({ start: new Date(start), end: new Date(end) });
  expect(days('2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z')).toEqual(['2026-02-28']);
  expect(days('2028-02-28T12:00:00Z', '2028-03-01T00:00:01Z')).toEqual([
    '2028-02-28',
    '2028-02-29',
    '2028-03-01',
  ]);
  expect(days('1969-12-31T23:00:00Z', '1970-01-01T01:00:00Z')).toEqual(['1969-12-31', '1970-01-01']);
});
