import { describe, expect, it } from 'vitest';
import { accepts, problemsOf, refuses } from '../../test/production/settings.ts';
import type { ShareShuffleSetting } from '../domain/protocol.ts';
import { protocolProblems, SHARE_SHUFFLE_DEFAULTS } from './protocols.ts';

const of = (changes: Partial<ShareShuffleSetting> = {}) => ({
  honestMajorityShareShuffle: {
    firstWorker: 'duchies/a',
    secondWorker: 'duchies/b',
    aggregator: 'duchies/c',
    ...SHARE_SHUFFLE_DEFAULTS,
    ...changes,
  },
});
const AT = 'protocols.honestMajorityShareShuffle';

describe('the protocols', () => {
  it('may be none, or one with three duchies', () => {
    expect(protocolProblems({})).toEqual([]);
    expect(protocolProblems(of())).toEqual([]);
    expect(protocolProblems(of({ noiseMechanism: 'NONE' }))).toEqual([]);
  });

  it.each<Partial<ShareShuffleSetting>>([
    { secondWorker: 'duchies/a' },
    { aggregator: 'duchies/a' },
    { firstWorker: 'duchies/c', secondWorker: 'duchies/a', aggregator: 'duchies/a' },
  ])('give no duchy two roles: %j', (changes) => {
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
  ])('have no ring of %d', (modulus, size) => {
    const both = of({ reachRingModulus: modulus, reachAndFrequencyRingModulus: modulus });
    expect(protocolProblems(both)).toEqual([
      `${AT}.reachRingModulus ${modulus} is too ${size}. Set 127.`,
      `${AT}.reachAndFrequencyRingModulus ${modulus} is too ${size}. Set 127.`,
    ]);
  });
});

describe('production', () => {
  refuses([
    [
      'results without noise',
      () => problemsOf({ protocols: of({ noiseMechanism: 'NONE' }) }),
      /noiseMechanism NONE is for development mode only/,
    ],
  ]);
  accepts([
    ['discrete Gaussian noise', () => problemsOf({ protocols: of() })],
    ['geometric noise', () => problemsOf({ protocols: of({ noiseMechanism: 'GEOMETRIC' }) })],
  ]);
});
