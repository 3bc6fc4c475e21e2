import { newSeed } from '@measurement-exchange/sdk/shareShuffle';
import { describe, expect, test } from 'vitest';
import { noiseRegisters } from './noiseRegisters.ts';
import { shareShuffleParameters } from './parameters.ts';

const privacyParams = { epsilon: 1, delta: 1e-9 };
const COMMON = { ringModulus: 127, dataProviderCount: 3, registerCount: 1000 };

describe.each(['DISCRETE_GAUSSIAN', 'GEOMETRIC'] as const)('%s registers', (noiseMechanism) => {
  const frequency = shareShuffleParameters({
    ...COMMON,
    noiseMechanism,
    measurementType: 'REACH_AND_FREQUENCY',
    maximumFrequency: 4,
    reachPrivacyParams: { epsilon: 0.5, delta: 1e-9 },
    frequencyPrivacyParams: privacyParams,
  });
  const reach = shareShuffleParameters({
    ...COMMON,
    noiseMechanism,
    measurementType: 'REACH',
    privacyParams,
  });

  test('of frequencies have some of each, near the offset, and the mark for the rest', () => {
    for (let i = 0; i < 20; i++) {
      const registers = noiseRegisters(frequency, newSeed());
      expect(registers).toHaveLength(frequency.noiseRegisterCount);
      const counts = new Map<number, number>();
      for (const value of registers) counts.set(value, (counts.get(value) ?? 0) + 1);
      expect([...counts.keys()].every((value) => value <= 12 || value === 126)).toBe(true);
      for (let value = 0; value <= 12; value++) {
        const { offset, variance } = value === 0 ? frequency.reachNoise : frequency.frequencyNoise;
        expect(counts.get(value)).toBeGreaterThan(0);
        expect(Math.abs(counts.get(value)! - offset)).toBeLessThan(10 * Math.sqrt(variance));
      }
    }
  });

  test('of a reach are uniform values but zero, near the offset, and zeros', () => {
    const values = new Set<number>();
    for (let i = 0; i < 50; i++) {
      const registers = noiseRegisters(reach, newSeed());
      expect(registers).toHaveLength(2 * reach.reachNoise.offset);
      const reached = registers.findLastIndex((value) => value !== 0) + 1;
      expect(registers.subarray(0, reached).every((value) => value > 0 && value < 127)).toBe(true);
      expect(Math.abs(reached - reach.reachNoise.offset)).toBeLessThan(
        10 * Math.sqrt(reach.reachNoise.variance),
      );
      for (const value of registers) values.add(value);
    }
    expect(values.size).toBeGreaterThan(120);
  });

  test('are the same for the same seed, and others for another', () => {
    for (const parameters of [frequency, reach]) {
      const seed = newSeed();
      expect(noiseRegisters(parameters, seed)).toEqual(noiseRegisters(parameters, seed));
      expect(noiseRegisters(parameters, newSeed())).not.toEqual(noiseRegisters(parameters, newSeed()));
    }
  });
});
