import { ExchangeError, type Violation } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest } from './readRequest.ts';
import type { MeasurementRequest } from './request.ts';

const interval = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const streamly = {
  name: 'dataProviders/streamly',
  eventGroups: [{ name: 'dataProviders/streamly/eventGroups/tv', interval }],
};
const privacy = { epsilon: 0.5, delta: 1e-9 };

const GOOD: Record<MeasurementRequest['type'], MeasurementRequest> = {
  reach: { type: 'reach', dataProviders: [streamly], privacy },
  reachAndFrequency: { type: 'reachAndFrequency', dataProviders: [streamly], privacy },
  impression: { type: 'impression', dataProviders: [streamly], privacy, maximumFrequencyPerUser: 5 },
  duration: { type: 'duration', dataProviders: [streamly], privacy, maximumWatchDurationSeconds: 30 },
  population: { type: 'population', dataProviders: [{ name: 'dataProviders/streamly' }] },
};

/** Returns the violations as `field: description`, in the order found. */
function violations(request: unknown): string[] {
  return faults(request).map(({ field, description }) => `${field}: ${description}`);
}

function faults(request: unknown): Violation[] {
  try {
    readRequest(request as MeasurementRequest);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ExchangeError);
    return (error as ExchangeError).violations;
  }
}

describe('a sample that wraps around 1', () => {
  const vidSampling = { start: 0.75, width: 0.5 };
  const chirper = 'dataProviders/chirper';
  const together = (request: MeasurementRequest): MeasurementRequest => ({
    ...request,
    vidSampling,
    dataProviders: [
      ...request.dataProviders,
      { name: chirper, eventGroups: [{ name: `${chirper}/eventGroups/x`, interval }] },
    ],
  });

  it.each(['reach', 'reachAndFrequency'] as const)('is accepted for the %s of several providers', (type) => {
    expect(readRequest(together(GOOD[type])).spec).toMatchObject({ vidSamplingInterval: vidSampling });
  });

  it('is rejected if another protocol is requested', () => {
    const request = { ...together(GOOD.reach), protocol: 'reachOnlyLiquidLegionsV2' } as const;
    expect(violations(request)).toEqual([
      'vidSampling: start + width must be at most 1, unless honestMajorityShareShuffle computes it',
    ]);
  });

  it.each([
    ['one provider', { ...GOOD.reach, vidSampling }],
    ['impressions', together(GOOD.impression)],
    ['durations', together(GOOD.duration)],
  ])('is rejected for %s, which no duchies compute', (_what, request) => {
    expect(violations(request)).toEqual([
      'vidSampling: start + width must be at most 1, unless honestMajorityShareShuffle computes it',
    ]);
  });
});

describe('a valid request', () => {
  it.each(Object.keys(GOOD) as MeasurementRequest['type'][])('of type %s is accepted', (type) => {
    expect(violations(GOOD[type])).toEqual([]);
  });

  it('has ten frequencies, a sample of width 1, and one budget for reach and frequency by default', () => {
    expect(readRequest(GOOD.reachAndFrequency).spec).toEqual({
      measurementType: 'REACH_AND_FREQUENCY',
      nonceHashes: [],
      vidSamplingInterval: { start: 0, width: 1 },
      reachAndFrequency: {
        reachPrivacyParams: privacy,
        frequencyPrivacyParams: privacy,
        maximumFrequency: 10,
      },
    });
    const other = { epsilon: 2, delta: 0 };
    const given = { frequencyPrivacy: other, maximumFrequency: 3, vidSampling: { start: 0.5, width: 0.25 } };
    expect(readRequest({ ...GOOD.reachAndFrequency, ...given }).spec).toMatchObject({
      vidSamplingInterval: { start: 0.5, width: 0.25 },
      reachAndFrequency: { reachPrivacyParams: privacy, frequencyPrivacyParams: other, maximumFrequency: 3 },
    });
  });

  it('converts event group names from the form of the consumer to the form of the provider', () => {
    const eventGroups = [{ name: 'measurementConsumers/acme/eventGroups/tv', interval }];
    const read = readRequest({ ...GOOD.reach, dataProviders: [{ ...streamly, eventGroups }] });
    expect(read.dataProviders[0]!.selection).toMatchObject({
      eventGroups: [{ name: 'dataProviders/streamly/eventGroups/tv' }],
    });
  });

  it('may have times as Date or as text with any offset', () => {
    const eventGroups = [
      {
        name: 'dataProviders/streamly/eventGroups/tv',
        interval: { start: new Date(Date.UTC(2026, 0, 1)), end: '2026-01-01T02:00:00+01:00' },
        filter: '   ',
      },
    ];
    const read = readRequest({ ...GOOD.reach, dataProviders: [{ ...streamly, eventGroups }] });
    expect(read.dataProviders[0]!.selection).toEqual({
      eventGroups: [
        {
          name: 'dataProviders/streamly/eventGroups/tv',
          interval: { start: '2026-01-01T00:00:00.000000Z', end: '2026-01-01T01:00:00.000000Z' },
          filter: undefined,
        },
      ],
    });
  });

  it('ignores fields that are undefined', () => {
    expect(violations({ ...GOOD.population, vidSampling: undefined, typo: undefined })).toEqual([]);
  });
});

describe('an invalid request', () => {
  it("reports all violations in one error, with the caller's field names", () => {
    const request = {
      type: 'impression',
      dataProviders: [
        {
          name: 'dataProviders/streamly',
          eventGroups: [
            {
              name: 'dataProviders/chirper/eventGroups/x',
              interval: { start: interval.end, end: interval.start },
            },
            { name: 'eventGroups/x', interval: { start: 'yesterday' }, filter: 7 },
          ],
        },
        { name: 'streamly', eventGroups: [] },
        { name: 'dataProviders/streamly', population: {} },
      ],
      privacy: { epsilon: 0, delta: 1 },
      maximumFrequency: 4,
      vidSampling: { start: 0.5, width: 0.75 },
      reference: 'x',
      requestId: '',
    };
    expect(violations(request)).toEqual([
      'maximumFrequency: does not belong to the type impression',
      'reference: is not a known field',
      'maximumFrequencyPerUser: is required',
      'dataProviders[0].eventGroups[0].name: must be an event group of dataProviders/streamly',
      'dataProviders[0].eventGroups[0].interval: start must be before end',
      'dataProviders[0].eventGroups[1].name: must be an event group of dataProviders/streamly',
      'dataProviders[0].eventGroups[1].interval.start: must be a Date or RFC 3339 such as 2026-01-31T00:00:00Z',
      'dataProviders[0].eventGroups[1].interval.end: is required',
      'dataProviders[0].eventGroups[1].filter: must be a text of 1 to 100000 characters',
      'dataProviders[1].name: must match dataProviders/{dataProvider}',
      'dataProviders[1].eventGroups: must be a list with at least one entry',
      'dataProviders[2].name: repeats an earlier one',
      'dataProviders[2].population: does not belong to the type impression',
      'dataProviders[2].eventGroups: is required',
      'vidSampling: start + width must be at most 1, unless honestMajorityShareShuffle computes it',
      'privacy.epsilon: must be a finite number above 0',
      'privacy.delta: must be at least 0 and below 1',
      'requestId: must be a text of 1 to 255 characters',
    ]);
  });

  it.each<[string, object, string[]]>([
    ['an unknown type', { type: 'sales' }, ['type']],
    ['an unknown protocol', { protocol: 'guessing' }, ['protocol']],
    ['no type', { type: undefined }, ['type']],
    ['no providers', { dataProviders: [] }, ['dataProviders']],
    [
      'wildcards',
      {
        dataProviders: [
          { name: 'dataProviders/-', eventGroups: [{ name: 'dataProviders/-/eventGroups/-', interval }] },
        ],
      },
      ['dataProviders[0].name', 'dataProviders[0].eventGroups[0].name'],
    ],
    ['no budget', { privacy: undefined }, ['privacy']],
    ['a budget without delta', { privacy: { epsilon: 1 } }, ['privacy.delta']],
    ['a budget as text', { privacy: { epsilon: '1', delta: 0 } }, ['privacy.epsilon']],
    ['an infinite budget', { privacy: { epsilon: Number.POSITIVE_INFINITY, delta: 0 } }, ['privacy.epsilon']],
    ['a budget with an unknown field', { privacy: { ...privacy, rho: 1 } }, ['privacy.rho']],
    ['a sample that starts at NaN', { vidSampling: { start: Number.NaN, width: 1 } }, ['vidSampling.start']],
    // The spec stores the width as a 32-bit float, which rounds this width to 0.
    ['an empty sample', { vidSampling: { start: 0, width: 1e-50 } }, ['vidSampling.width']],
    ['a list as a sample', { vidSampling: [0, 1] }, ['vidSampling']],
    ['a referenceId that is too long', { referenceId: 'x'.repeat(256) }, ['referenceId']],
  ])('is rejected with %s', (_what, change, fields) => {
    expect(faults({ ...GOOD.reach, ...change }).map(({ field }) => field)).toEqual(fields);
  });

  it.each<[string, MeasurementRequest['type'], object, string[]]>([
    ['a maximum frequency of 1', 'reachAndFrequency', { maximumFrequency: 1 }, ['maximumFrequency']],
    ['a fractional maximum frequency', 'reachAndFrequency', { maximumFrequency: 2.5 }, ['maximumFrequency']],
    [
      'an invalid budget, reported once for both',
      'reachAndFrequency',
      { privacy: { epsilon: -1, delta: 0 } },
      ['privacy.epsilon'],
    ],
    [
      'an invalid frequency budget',
      'reachAndFrequency',
      { frequencyPrivacy: { epsilon: 1, delta: 2 } },
      ['frequencyPrivacy.delta'],
    ],
    ['no cap', 'impression', { maximumFrequencyPerUser: undefined }, ['maximumFrequencyPerUser']],
    ['a cap of 0', 'impression', { maximumFrequencyPerUser: 0 }, ['maximumFrequencyPerUser']],
    ['a cap beyond 32 bits', 'impression', { maximumFrequencyPerUser: 2 ** 31 }, ['maximumFrequencyPerUser']],
    ['a duration of 0', 'duration', { maximumWatchDurationSeconds: 0 }, ['maximumWatchDurationSeconds']],
    [
      'a duration below a nanosecond',
      'duration',
      { maximumWatchDurationSeconds: 1e-10 },
      ['maximumWatchDurationSeconds'],
    ],
    [
      'a duration above ten thousand years',
      'duration',
      { maximumWatchDurationSeconds: 1e12 },
      ['maximumWatchDurationSeconds'],
    ],
    ['a sample of a population', 'population', { vidSampling: { start: 0, width: 1 } }, ['vidSampling']],
    [
      'event groups for a population',
      'population',
      { dataProviders: [streamly] },
      ['dataProviders[0].eventGroups'],
    ],
    [
      'a duplicate event group',
      'reach',
      { dataProviders: [{ ...streamly, eventGroups: [...streamly.eventGroups, ...streamly.eventGroups] }] },
      ['dataProviders[0].eventGroups[1].name'],
    ],
  ])('is rejected with %s', (_what, type, change, fields) => {
    expect(faults({ ...GOOD[type], ...change }).map(({ field }) => field)).toEqual(fields);
  });

  it('causes only violations, and no other error, for any input', () => {
    const near = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...Object.keys(GOOD)), fc.anything()),
        dataProviders: fc.oneof(
          fc.array(
            fc.oneof(
              fc.anything(),
              fc.record(
                { name: fc.anything(), eventGroups: fc.array(fc.anything()), population: fc.anything() },
                { requiredKeys: [] },
              ),
            ),
          ),
          fc.anything(),
        ),
        privacy: fc.anything(),
        vidSampling: fc.anything(),
        maximumFrequency: fc.anything(),
        requestId: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(near, fc.anything()), (request) => {
        for (const { description } of faults(request)) expect(description).not.toBe('');
      }),
      { numRuns: rounds(500) },
    );
  });
});
