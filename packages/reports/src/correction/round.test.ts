import { describe, expect, test } from 'vitest';
import { rounded } from './round.ts';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('rounded people', () => {
  test('add up to the rounded total, and each number moves by less than one', () => {
    const people = [0.5, 2.25, 3.4, 0.05, 7];
    const whole = rounded(people);
    expect(sum(whole)).toBe(13);
    for (const [i, value] of whole.entries()) expect(Math.abs(value - people[i]!)).toBeLessThan(1);
  });

  test('never exceed the population, even if the unrounded people do', () => {
    expect(sum(rounded([9000.4, 0, 11_000.29], 20_000))).toBe(20_000);
    expect(rounded([19_999.9, 3.4], 20_000)).toEqual([19_997, 3]);
    expect(rounded([1.6, 2.4], 20_000)).toEqual([2, 2]);
  });
});
