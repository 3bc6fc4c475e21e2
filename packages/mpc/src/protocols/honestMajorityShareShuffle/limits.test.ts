import { MAX_SHUFFLED } from '@measurement-exchange/contract/shareShuffle';
import { describe, expect, test } from 'vitest';
import { type ShareShuffleSpec, shareShuffleParameters, shuffledCount } from './limits.ts';

const COMMON = { ringModulus: 127, dataProviderCount: 3, registerCount: 1000 };
const REACH: ShareShuffleSpec = {
  ...COMMON,
  measurementType: 'REACH',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  privacyParams: { epsilon: 0.1, delta: 1e-9 },
};
const FREQUENCY: ShareShuffleSpec = {
  ...COMMON,
  measurementType: 'REACH_AND_FREQUENCY',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  maximumFrequency: 10,
  reachPrivacyParams: { epsilon: 0.0033, delta: 1e-12 },
  frequencyPrivacyParams: { epsilon: 0.115, delta: 1e-12 },
};

describe('the number of noise registers', () => {
  test.each([
    [127, 3],
    [127, 12],
    [61, 3],
  ])(
    'of frequencies covers all values of a ring of %d, for %d providers',
    (ringModulus, dataProviderCount) => {
      const parameters = shareShuffleParameters({ ...FREQUENCY, ringModulus, dataProviderCount });
      // The offset is 12,482 for the people at 0, and 359 for each higher value below the marker value.
      const expected = 2 * 12_482 + (ringModulus - 2) * 2 * 359;
      expect(parameters.noiseRegisterCount).toBe(expected);
      expect(shuffledCount(parameters)).toBe(1000 + 2 * expected);
    },
  );

  test('of a reach is twice the offset', () => {
    expect(shareShuffleParameters(REACH)).toMatchObject({
      noiseRegisterCount: 630,
      maximumFrequency: 1,
    });
  });

  test('is 0 without noise, which requires no privacyParams', () => {
    const { privacyParams: _, ...reach } = REACH;
    expect(shareShuffleParameters({ ...reach, noiseMechanism: 'NONE' }).noiseRegisterCount).toBe(0);
    expect(() => shareShuffleParameters(reach)).toThrow(/privacyParams/);
  });
});

describe('shareShuffleParameters', () => {
  test.each<[string, ShareShuffleSpec, RegExp]>([
    ['a modulus of 8 bits', { ...REACH, ringModulus: 131 }, /ringModulus/],
    ['a modulus that is not prime, for a reach', { ...REACH, ringModulus: 121 }, /prime/],
    ['as many providers as the modulus', { ...REACH, dataProviderCount: 127 }, /data providers/],
    ['no providers', { ...REACH, dataProviderCount: 0 }, /dataProviders/],
    [
      'frequencies that exceed the modulus',
      { ...FREQUENCY, dataProviderCount: 13 },
      /ringModulus .* 131, and is 127/,
    ],
    [
      'frequencies that reach the marker value',
      { ...FREQUENCY, maximumFrequency: 42 },
      /ringModulus .* 127, and is 127/,
    ],
    ['a maximum frequency of 1', { ...FREQUENCY, maximumFrequency: 1 }, /maximumFrequency/],
    [
      'too much noise',
      { ...FREQUENCY, frequencyPrivacyParams: { epsilon: 1e-5, delta: 1e-12 } },
      /raise epsilon/,
    ],
    ['an epsilon of 1e-7', { ...REACH, privacyParams: { epsilon: 1e-7, delta: 1e-12 } }, /epsilon/],
    ['too many registers', { ...REACH, registerCount: MAX_SHUFFLED }, /width/],
    ['half a register', { ...REACH, registerCount: 0.5 }, /registerCount/],
  ])('rejects %s', (_, spec, message) => expect(() => shareShuffleParameters(spec)).toThrow(message));

  test('accepts a spec at the limits', () => {
    expect(() => shareShuffleParameters({ ...FREQUENCY, dataProviderCount: 12 })).not.toThrow();
    expect(() => shareShuffleParameters({ ...FREQUENCY, maximumFrequency: 41 })).not.toThrow();
    expect(shareShuffleParameters({ ...FREQUENCY, ringModulus: 121 }).modulus).toBe(121);
    expect(() => shareShuffleParameters({ ...REACH, dataProviderCount: 126 })).not.toThrow();
    // The limit includes the noise of both workers, which is 630 registers each.
    const most = MAX_SHUFFLED - 2 * 630;
    expect(() => shareShuffleParameters({ ...REACH, registerCount: most })).not.toThrow();
    expect(() => shareShuffleParameters({ ...REACH, registerCount: most + 1 })).toThrow(/width/);
  });
});
