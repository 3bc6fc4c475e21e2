import type { EventGroup, PlainSpec } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { expectedFigures } from './expected.ts';
import { planWarnings, unrecorded } from './planWarnings.ts';
import type { DuchyProtocol } from './protocol.ts';

const spec = (asked: object, width = 1) =>
  ({ nonceHashes: [], vidSamplingInterval: { start: 0, width }, ...asked }) as unknown as PlainSpec;
const params = (epsilon: number, delta = 0) => ({ epsilon, delta });
const reach = (epsilon: number, delta = 0, width = 1) =>
  spec({ measurementType: 'REACH', reach: { privacyParams: params(epsilon, delta) } }, width);
const frequencies = (epsilon: number, delta = 0) =>
  spec({
    measurementType: 'REACH_AND_FREQUENCY',
    reachAndFrequency: {
      reachPrivacyParams: params(epsilon, delta),
      frequencyPrivacyParams: params(epsilon, delta),
      maximumFrequency: 5,
    },
  });

const duchies = { aggregator: 'duchies/a', noiseMechanism: 'DISCRETE_GAUSSIAN' };
const shuffle = {
  protocol: 'honestMajorityShareShuffle',
  config: { ...duchies, firstWorker: 'duchies/b', secondWorker: 'duchies/c' },
} as unknown as DuchyProtocol;
const sketches = {
  protocol: 'liquidLegionsV2',
  config: {
    ...{ ...duchies, workers: ['duchies/b', 'duchies/c'], decayRate: 12, maxSize: 100_000 },
    ...{ samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
    ...{ histogramPrivacyParams: params(0.1, 1e-9), publisherPrivacyParams: params(0.1, 1e-9) },
  },
} as unknown as DuchyProtocol;

describe('the expected uncertainty', () => {
  it('of an unsampled reach comes only from the noise', () => {
    // Geometric noise at epsilon 0.5 has a variance of 7.8, so 1.96 standard deviations are 5.5.
    const [figure, ...others] = expectedFigures(reach(0.5), undefined, 1_000_000);
    expect(figure).toEqual({ figure: 'reach', margin: expect.closeTo(5.49, 1) });
    expect(others).toEqual([]);
  });

  it('of a sampled reach depends on the assumed reach, which is returned', () => {
    const of = (assumed: number) => expectedFigures(reach(0.5, 0, 0.25), undefined, assumed)[0]!;
    expect(of(40_000)).toMatchObject({ assumed: 40_000 });
    // If X people are estimated from a sample of the width w = 1/4, the estimate has the variance X (1 - w) / w = 3 X.
    // The noise is small in comparison.
    expect(of(40_000).margin! / (1.96 * Math.sqrt(3 * 40_000))).toBeCloseTo(1, 2);
    expect(of(160_000).margin! / of(40_000).margin!).toBeCloseTo(2, 2);
  });

  it('of impressions and durations comes from the cap per person, and is 0 for a population', () => {
    const impressions = (maximumFrequencyPerUser: number) => {
      const impression = { privacyParams: params(0.5), maximumFrequencyPerUser };
      return expectedFigures(spec({ measurementType: 'IMPRESSION', impression }), undefined, 1000)[0]!;
    };
    expect(impressions(20).margin! / impressions(1).margin!).toBeCloseTo(20, 0);
    const duration = { privacyParams: params(0.5), maximumWatchDurationPerUser: 60 };
    expect(expectedFigures(spec({ measurementType: 'DURATION', duration }), undefined, 1000)).toEqual([
      { figure: 'watchDurationSeconds', margin: expect.closeTo((60 * 1.96 * Math.SQRT2) / 0.5, 1) },
    ]);
    const population = spec({ measurementType: 'POPULATION' });
    expect(expectedFigures(population, undefined, 1000)).toEqual([{ figure: 'population', margin: 0 }]);
  });

  it('of shares is smaller for a larger reach', () => {
    const share = (assumed: number) => expectedFigures(frequencies(0.1), undefined, assumed)[1]!;
    expect(share(10_000)).toMatchObject({ figure: 'frequencyShare', assumed: 10_000 });
    expect(share(10_000).margin! / share(100_000).margin!).toBeCloseTo(10, 0);
  });

  it('of a result that duchies compute comes from their protocol', () => {
    // `mex measure` prints the same margin for a real result of 640 people: 604 to 676.
    expect(expectedFigures(reach(0.5, 1e-9), shuffle, 1_000_000)).toEqual([
      { figure: 'reach', margin: expect.closeTo(36, 0) },
    ]);
    const [ofSketch, share] = expectedFigures(frequencies(1, 1e-9), sketches, 1_000_000);
    expect(ofSketch).toMatchObject({ figure: 'reach', assumed: 1_000_000 });
    expect(ofSketch!.margin).toBeGreaterThan(1000);
    expect(ofSketch!.margin).toBeLessThan(100_000);
    expect(share).toMatchObject({ figure: 'frequencyShare', assumed: 1_000_000 });
  });
});

describe('a warning', () => {
  const warnings = (asked: PlainSpec, charge: object | undefined, assumed = 1_000_000) =>
    planWarnings(asked, { figures: expectedFigures(asked, undefined, assumed), charge, assumed });

  it('is returned for a too small epsilon, useless figures, and a charge that is too high or impossible', () => {
    expect(warnings(reach(0.1), { epsilon: 0.1 })).toEqual([]);
    expect(warnings(reach(0.00005), { epsilon: 0.00005 })).toEqual([
      expect.stringContaining('An epsilon of 0.00005 is below 0.0001: data providers refuse it'),
    ]);
    expect(warnings(reach(0.001), { epsilon: 0.001 }, 1000)).toEqual([
      expect.stringContaining('The noise is larger than a figure of 1,000'),
    ]);
    expect(warnings(reach(500), { epsilon: 500 })).toEqual([
      expect.stringMatching(/more than its whole budget usually is \(epsilon 500 of 10\)/),
    ]);
    expect(warnings(reach(1), undefined)).toEqual([expect.stringContaining('No noise can meet')]);
  });

  describe('about days without events', () => {
    const name = 'dataProviders/streamly/eventGroups/tv';
    const now = Date.parse('2026-06-01T00:00:00Z');
    const until = (end: string, names = [name]) => [
      {
        name: 'dataProviders/streamly',
        selection: {
          eventGroups: names.map((name) => ({
            ...{ name, interval: { start: '2026-01-01T00:00:00Z', end }, filter: undefined },
          })),
        },
      },
    ];
    const known = (dataAvailabilityInterval: object, id = 'tv') =>
      [{ name: `measurementConsumers/acme/eventGroups/${id}`, dataAvailabilityInterval }] as EventGroup[];
    const since = known({ startTime: '2026-03-01T00:00:00Z' });
    const both = known({ startTime: '2026-03-01T00:00:00Z', endTime: '2026-05-01T00:00:00Z' });

    it('is returned for an interval that ends before the first events', () => {
      expect(unrecorded(until('2026-03-01T00:00:00Z'), since, now)).toEqual([
        `There are events since 2026-03-01T00:00:00Z only, and data providers refuse an interval that ends before: ${name}`,
      ]);
      expect(unrecorded(until('2026-03-02T00:00:00Z'), since, now)).toEqual([]);
      expect(unrecorded(until('2026-02-01T00:00:00Z'), [], now)).toEqual([]);
    });

    it('is returned for an interval that ends after the recorded events', () => {
      expect(unrecorded(until('2026-05-01T00:00:00Z'), both, now)).toEqual([]);
      expect(unrecorded(until('2026-05-02T00:00:00Z'), both, now)).toEqual([
        expect.stringMatching(/until 2026-05-01T00:00:00Z only, and data providers defer/),
      ]);
    });

    it('is returned for an interval that ends in the future', () => {
      expect(unrecorded(until('2026-06-01T00:00:00Z'), since, now)).toEqual([]);
      expect(unrecorded(until('2027-05-01T00:00:00Z'), since, now)).toEqual([
        expect.stringMatching(
          /ends at 2027-05-01T00:00:00Z, and data providers defer their answer until then/,
        ),
      ]);
    });

    it('is returned once for all event groups that it applies to', () => {
      const names = [name, `${name}2`];
      const groups = [...since, ...known({ startTime: '2026-03-01T00:00:00Z' }, 'tv2')];
      expect(unrecorded(until('2026-02-01T00:00:00Z', names), groups, now)).toEqual([
        expect.stringMatching(new RegExp(`: ${name}, ${name}2$`)),
      ]);
    });
  });
});
