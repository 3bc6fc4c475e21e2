import { describe, expect, test } from 'vitest';
import {
  shareShuffleCovariance,
  shareShuffleReachVariance,
} from '../protocols/honestMajorityShareShuffle/variance.ts';
import { liquidLegionsReachCovariance, liquidLegionsReachVariance } from './liquidLegions.ts';

describe('the covariance of a reach with itself is its variance without noise', () => {
  test.for([1, 0.3])('width %d', (width) => {
    const sketch = { decayRate: 12, maxSize: 20_000, width };
    const reach = 30_000;
    const variance = liquidLegionsReachVariance({ ...sketch, reach, noiseVariance: 0 });
    const reaches = [reach, reach] as const;
    expect(liquidLegionsReachCovariance({ ...sketch, reaches, overlap: reach }) / variance).toBeCloseTo(1, 6);
    expect(liquidLegionsReachCovariance({ ...sketch, reaches, overlap: 0 })).toBeCloseTo(0, 9);
    const sample = { frequencyVectorSize: 100_000 * width, width };
    const shuffled = shareShuffleReachVariance({ ...sample, reach, noiseVariance: 0 });
    expect(shareShuffleCovariance(reaches, reach, sample)).toBeCloseTo(shuffled, 6);
    // The sets are disjoint, so a sample with more people of one set has fewer of the other.
    expect(shareShuffleCovariance(reaches, 0, sample)).toBeLessThanOrEqual(0);
  });
});

test('a sketch with registers that everybody fills has a covariance too', () => {
  const sketch = { decayRate: 12, maxSize: 20_000, width: 1 };
  const reach = 5_000_000;
  const variance = liquidLegionsReachVariance({ ...sketch, reach, noiseVariance: 0 });
  const covariance = liquidLegionsReachCovariance({ ...sketch, reaches: [reach, reach], overlap: reach });
  expect(covariance / variance).toBeCloseTo(1, 6);
});
