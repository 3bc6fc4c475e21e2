import { expect, test } from 'vitest';
import { exactRational, roundedUp, toNumber } from './rational.ts';

test('exactRational converts a double to its exact fraction, which converts back to the same double', () => {
  expect(exactRational(0.1)).toEqual({ numerator: 3602879701896397n, denominator: 1n << 55n });
  expect(exactRational(60_000)).toEqual({ numerator: 60_000n, denominator: 1n });
  for (const value of [1, 0.1, 1 / 3, 1e-9, 12345.678, 1e300, 5e-324, Number.MAX_VALUE, 2 ** 53]) {
    expect(toNumber(exactRational(value))).toBe(value);
  }
  for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => exactRational(value)).toThrow(RangeError);
  }
});

test('roundedUp rounds up by at most one part in 2^31', () => {
  const fractions = [
    { numerator: 1n, denominator: 3n },
    { numerator: 10n, denominator: 3n },
    { numerator: 2n ** 90n + 1n, denominator: 7n },
    { numerator: 1n, denominator: 2n ** 90n + 1n },
    exactRational(0.0033),
  ];
  for (const fraction of fractions) {
    const { numerator, denominator } = roundedUp(fraction);
    const over = numerator * fraction.denominator - fraction.numerator * denominator;
    expect(over).toBeGreaterThanOrEqual(0n);
    expect(over * 2n ** 31n).toBeLessThanOrEqual(fraction.numerator * denominator);
  }
  expect(roundedUp({ numerator: 12n, denominator: 8n })).toEqual({ numerator: 3n, denominator: 2n });
});
