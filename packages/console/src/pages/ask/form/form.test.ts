import type { EventGroup } from '@measurement-exchange/contract';
import type { Question } from '@measurement-exchange/sdk';
import { expect, it } from 'vitest';
import { DEFAULTS, formOf, requestOf } from './form.ts';

const group = (publisher: string, id: string) =>
  ({
    name: `measurementConsumers/acme/eventGroups/${id}`,
    dataProvider: `dataProviders/${publisher}`,
    measurementConsumer: 'measurementConsumers/acme',
    state: 'ACTIVE',
  }) as EventGroup;
const GROUPS = [group('streamly', 'v'), group('chirper', 'w'), group('streamly', 'd')];
const DAYS = { from: '2026-10-01', until: '2026-10-28' };
const INTERVAL = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' };

it('requestOf asks each publisher for its own event groups', () => {
  const form = { ...DEFAULTS, title: ' Autumn ', filter: 'device == "phone"' };
  expect(requestOf(form, GROUPS, DAYS)).toEqual({
    type: 'reach',
    title: 'Autumn',
    privacy: { epsilon: 1, delta: 1e-9 },
    dataProviders: [
      {
        name: 'dataProviders/streamly',
        eventGroups: ['v', 'd'].map((id) => ({
          name: `dataProviders/streamly/eventGroups/${id}`,
          interval: INTERVAL,
          filter: 'device == "phone"',
        })),
      },
      {
        name: 'dataProviders/chirper',
        eventGroups: [
          { name: 'dataProviders/chirper/eventGroups/w', interval: INTERVAL, filter: 'device == "phone"' },
        ],
      },
    ],
  });
});

it('requestOf includes only the parameters of the measurement type', () => {
  const parameters = (type: typeof DEFAULTS.type) => {
    const form = { ...DEFAULTS, type, protocol: 'direct', sampleWidth: 0.5 } as const;
    const { dataProviders: _, type: __, ...rest } = requestOf(form, GROUPS, DAYS);
    return Object.keys(rest);
  };
  expect(parameters('reach')).toEqual(['privacy', 'vidSampling', 'protocol']);
  expect(parameters('reachAndFrequency')).toEqual(['privacy', 'maximumFrequency', 'vidSampling', 'protocol']);
  expect(parameters('impression')).toEqual(['privacy', 'maximumFrequencyPerUser', 'vidSampling']);
  expect(parameters('duration')).toEqual(['privacy', 'maximumWatchDurationSeconds', 'vidSampling']);
  expect(parameters('population')).toEqual([]);
});

it('requestOf includes no event groups and days for a population', () => {
  const form = { ...DEFAULTS, type: 'population', filter: 'age_group == "55+"' } as const;
  expect(requestOf(form, GROUPS, DAYS).dataProviders[0]).toEqual({
    name: 'dataProviders/streamly',
    population: { filter: 'age_group == "55+"' },
  });
});

it.each(['reach', 'reachAndFrequency', 'impression', 'duration'] as const)(
  'formOf restores the form of a %s question',
  (type) => {
    const form = {
      ...DEFAULTS,
      ...{ type, title: 'Autumn', filter: 'device == "tv"', epsilon: 0.5, delta: 1e-8, sampleStart: 0.25 },
      ...{
        sampleWidth: 0.5,
        maximumFrequency: 5,
        impressionsPerPerson: 3,
        secondsPerPerson: 60,
        modelLine: 'm',
      },
    };
    const asked = requestOf(form, GROUPS, DAYS) as Question;
    const { form: again, notes } = formOf(asked);
    const ordered = again.groups.map((id) => GROUPS.find(({ name }) => name!.endsWith(`/${id}`))!);
    expect(requestOf(again, ordered, again.days!)).toEqual(asked);
    expect(notes).toEqual([]);
  },
);

it('formOf returns a note for each part of a question that the form cannot represent', () => {
  const asked = requestOf(DEFAULTS, GROUPS, DAYS) as Question;
  const [first, ...others] = asked.dataProviders;
  const [one, ...more] = first!.eventGroups!;
  const odd = {
    ...one!,
    filter: 'x',
    interval: { start: '2026-09-01T00:00:00Z', end: '2026-09-02T00:00:00Z' },
  };
  const { form, notes } = formOf({
    ...asked,
    frequencyPrivacy: { epsilon: 2, delta: 0 },
    dataProviders: [{ ...first!, eventGroups: [odd, ...more] }, ...others],
  });
  expect(form).toMatchObject({ filter: 'x', days: { from: '2026-09-01', until: '2026-09-01' } });
  expect(notes).toHaveLength(3);
});
