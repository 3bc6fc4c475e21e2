import { describe, expect, it } from 'vitest';
import { accepts, problemsOf, refuses } from '../../test/production/settings.ts';
import type { ShareShuffleSetting } from '../domain/shareShuffle.ts';
import {
  operatorProblems,
  protocolProblems,
  REACH_ONLY_DEFAULTS,
  ringWarnings,
  SHARE_SHUFFLE_DEFAULTS,
} from './protocols.ts';
import { DEFAULTS } from './settings.ts';

const of = (changes: Partial<ShareShuffleSetting> = {}) => ({
  honestMajorityShareShuffle: {
    firstWorker: 'duchies/a',
    secondWorker: 'duchies/b',
    aggregator: 'duchies/c',
    ...SHARE_SHUFFLE_DEFAULTS,
    ...changes,
  },
});
const RING = {
  ...REACH_ONLY_DEFAULTS,
  ...{ workers: ['duchies/a', 'duchies/b'], aggregator: 'duchies/c', decayRate: 12, maxSize: 1000 },
};
const FREQUENCY = { samplingIndicatorSize: 10_000_000, maximumFrequency: 10 };
const AT = 'protocols.honestMajorityShareShuffle';

describe('the protocol settings', () => {
  it('can be empty, or contain one protocol with three duchies', () => {
    expect(protocolProblems({})).toEqual([]);
    expect(protocolProblems(of())).toEqual([]);
    expect(protocolProblems(of({ noiseMechanism: 'NONE' }))).toEqual([]);
  });

  it.each<Partial<ShareShuffleSetting>>([
    { secondWorker: 'duchies/a' },
    { aggregator: 'duchies/a' },
    { firstWorker: 'duchies/c', secondWorker: 'duchies/a', aggregator: 'duchies/a' },
  ])('are rejected if a duchy has two roles: %j', (changes) => {
    expect(protocolProblems(of(changes))).toEqual([
      `${AT}: duchies/a has two roles. Name three duchies, each run by somebody else.`,
    ]);
  });

  it.each<[number, string]>([
    [2, 'small'],
    [113, 'small'],
    [126, 'small'],
    [126.5, 'small'],
    [128, 'large'],
    [131, 'large'],
  ])('are rejected with a ring modulus of %d', (modulus, size) => {
    const both = of({ reachRingModulus: modulus, reachAndFrequencyRingModulus: modulus });
    expect(protocolProblems(both)).toEqual([
      `${AT}.reachRingModulus ${modulus} is too ${size}. Set 127.`,
      `${AT}.reachAndFrequencyRingModulus ${modulus} is too ${size}. Set 127.`,
    ]);
  });
});

describe('Liquid Legions protocols', () => {
  it('can be enabled together', () => {
    const all = { ...of(), reachOnlyLiquidLegionsV2: RING, liquidLegionsV2: { ...RING, ...FREQUENCY } };
    expect(protocolProblems(all)).toEqual([]);
  });

  it('are rejected with a duplicate duchy or with sketch parameters out of range', () => {
    const reachOnlyLiquidLegionsV2 = { ...RING, workers: ['duchies/a', 'duchies/c'], decayRate: 101 };
    const liquidLegionsV2 = { ...RING, ...FREQUENCY, maximumFrequency: 101, maxSize: 2_000_000 };
    expect(protocolProblems({ reachOnlyLiquidLegionsV2, liquidLegionsV2 })).toEqual([
      'protocols.reachOnlyLiquidLegionsV2.workers and aggregator must be different duchies, and duchies/c is there twice.',
      'protocols.reachOnlyLiquidLegionsV2.decayRate must be above 0 and at most 100.',
      'protocols.liquidLegionsV2.maxSize must be a whole number from 1 to 1000000.',
      'protocols.liquidLegionsV2.maximumFrequency must be a whole number from 2 to 100.',
    ]);
  });
});

describe('production', () => {
  refuses([
    [
      'Liquid Legions without noise',
      () => problemsOf({ protocols: { reachOnlyLiquidLegionsV2: { ...RING, noiseMechanism: 'NONE' } } }),
      /reachOnlyLiquidLegionsV2\.noiseMechanism NONE is for development mode only/,
    ],
    [
      'Liquid Legions without noise beside a protocol with noise',
      () =>
        problemsOf({ protocols: { ...of(), reachOnlyLiquidLegionsV2: { ...RING, noiseMechanism: 'NONE' } } }),
      /reachOnlyLiquidLegionsV2\.noiseMechanism NONE is for development mode only/,
    ],
    [
      'share-shuffle without noise',
      () => problemsOf({ protocols: of({ noiseMechanism: 'NONE' }) }),
      /noiseMechanism NONE is for development mode only/,
    ],
  ]);
  accepts([
    ['discrete Gaussian noise', () => problemsOf({ protocols: of() })],
    ['geometric noise', () => problemsOf({ protocols: of({ noiseMechanism: 'GEOMETRIC' }) })],
  ]);
});

it('Liquid Legions protocols are disabled by default, and enabling them gives warnings', () => {
  expect(DEFAULTS.protocols).toEqual({});
  expect(ringWarnings({})).toEqual([]);
  expect(ringWarnings(of())).toEqual([]);
  const all = { ...of(), reachOnlyLiquidLegionsV2: RING, liquidLegionsV2: { ...RING, ...FREQUENCY } };
  expect(ringWarnings(all)).toEqual([
    expect.stringContaining('protocols.reachOnlyLiquidLegionsV2 is enabled.'),
    expect.stringContaining('protocols.liquidLegionsV2 is enabled.'),
  ]);
});

it('operatorProblems reports keys that are not duchy names', () => {
  expect(operatorProblems({ 'duchies/a': ['dataProviders/x'] })).toEqual([]);
  expect(operatorProblems({ a: [], 'dataProviders/x': [] })).toEqual([
    'duchyOperators: "a" is not the name of a duchy, such as duchies/alpha.',
    'duchyOperators: "dataProviders/x" is not the name of a duchy, such as duchies/alpha.',
  ]);
});
