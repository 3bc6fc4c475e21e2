import { describe, expect, it } from 'vitest';
import { Random } from './random.ts';

const draws = (random: Random) => Array.from({ length: 20 }, () => random.bits());

describe('Random', () => {
  it('returns the same numbers for the same seed, and others for another seed', () => {
    expect(draws(new Random(7))).toEqual(draws(new Random(7)));
    expect(draws(new Random(7))).not.toEqual(draws(new Random(8)));
  });

  it('returns a separate stream for each label, regardless of earlier draws', () => {
    const random = new Random(7);
    const before = draws(random.fork('client 1'));
    draws(random);
    expect(draws(random.fork('client 1'))).toEqual(before);
    expect(draws(random.fork('client 2'))).not.toEqual(before);
  });

  it('draws numbers below a bound about equally often, and keys by their weight', () => {
    const random = new Random(7);
    const counts = Array(10).fill(0);
    for (let i = 0; i < 10_000; i++) counts[random.int(10)]++;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1150);
    const keys = Array.from({ length: 10_000 }, () => random.weighted({ rare: 1, common: 9 }));
    const rare = keys.filter((key) => key === 'rare').length;
    expect(rare).toBeGreaterThan(850);
    expect(rare).toBeLessThan(1150);
  });
});
