/**
 * Lists selections of events or of a population that are invalid, that a provider does not have, or that it does not
 * offer to this consumer.
 */
import { ExchangeError } from '@measurement-exchange/contract';
import { CONSUMER, entry, eventGroups, fails, group, SPRING, type SpoiledRow } from './requisitions.ts';

const noGroup = new ExchangeError('EVENT_GROUP_NOT_FOUND', 'No such event group.');
const events = (...entries: ReturnType<typeof entry>[]) => ({ requisitionSpec: eventGroups(...entries) });

export const SPOILED_SELECTIONS: SpoiledRow[] = [
  [
    'a measurement of events selects a population',
    'SPEC_INVALID',
    'selects event groups',
    () => ({
      requisitionSpec: { requisitionType: { case: 'population', value: {} } },
    }),
  ],
  [
    'a measurement of a population selects event groups',
    'SPEC_INVALID',
    'selects a population',
    () => ({
      spec: { measurementType: { case: 'population', value: {} } },
    }),
  ],
  ['no event group is selected', 'SPEC_INVALID', 'selects event groups', () => events()],
  ['an event group is selected twice', 'SPEC_INVALID', 'twice', () => events(entry(SPRING), entry(SPRING))],
  [
    'an interval ends where it starts',
    'SPEC_INVALID',
    'must start before it ends',
    () => events(entry(SPRING, '', [2, 2])),
  ],
  [
    'an interval ends before it starts',
    'SPEC_INVALID',
    'must start before it ends',
    () => events(entry(SPRING, '', [3, 2])),
  ],
  [
    'an interval is missing',
    'SPEC_INVALID',
    'must start before it ends',
    () => events({ key: SPRING, value: {} } as never),
  ],
  [
    'an interval exceeds 10,000 days',
    'SPEC_INVALID',
    'exceeds 10000 days',
    () => events(entry(SPRING, '', [1, 20_000])),
  ],
  [
    'an event group belongs to another provider',
    'SPEC_INVALID',
    'is not an event group of',
    () => events(entry('dataProviders/chirper/eventGroups/spring')),
  ],
  [
    'the name of an event group is invalid',
    'SPEC_INVALID',
    'is not an event group of',
    () => events(entry('spring')),
  ],
  [
    'an event group does not exist',
    'SPEC_INVALID',
    'does not exist',
    () => ({
      context: { fetchEventGroup: fails(noGroup) },
    }),
  ],
  [
    'an event group is deleted',
    'SPEC_INVALID',
    'is DELETED',
    (world) => ({ context: group(world, { state: 'DELETED' }) }),
  ],
  [
    'an event group is for another consumer',
    'SPEC_INVALID',
    `is not for ${CONSUMER}`,
    (world) => ({
      context: group(world, { measurementConsumer: 'measurementConsumers/globex' }),
    }),
  ],
  [
    'the settings do not list the reference of an event group',
    'SPEC_INVALID',
    'references does not list',
    (world) => ({ context: group(world, { eventGroupReferenceId: 'summer' }) }),
  ],
  [
    'the reference of an event group is "constructor"',
    'SPEC_INVALID',
    'references does not list',
    (world) => ({ context: group(world, { eventGroupReferenceId: 'constructor' }) }),
  ],
  [
    'the reference of an event group lists only another consumer',
    'SPEC_INVALID',
    `references does not list ${CONSUMER}`,
    () => ({
      context: { references: { spring: { measurementConsumers: ['measurementConsumers/globex'] } } },
    }),
  ],
  [
    'an event group has no eventGroupReferenceId',
    'SPEC_INVALID',
    'has no eventGroupReferenceId',
    (world) => ({ context: group(world, { eventGroupReferenceId: undefined }) }),
  ],
  [
    'the interval starts before the data availability interval',
    'UNFULFILLABLE',
    'has events since 2026-07-04',
    (world) => ({
      context: group(world, { dataAvailabilityInterval: { startTime: '2026-07-04T00:00:00.000000Z' } }),
    }),
  ],
];
