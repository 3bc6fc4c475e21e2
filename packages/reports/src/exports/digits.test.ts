import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digitsFor } from './digits.ts';

it.each([
  [3.52, 3.54, 0, 2],
  [3.52, 3.53, 0, 2],
  [0.29, 0.3, 0, 2],
  [1.1, 1.2, 0, 1],
  [1000.001, 1000.002, 0, 3],
  [-0.3, -0.29, 0, 2],
  [3.521, 3.529, 0, 3],
  [3.52, 3.53, 4, 4],
  [1, 7, 0, 0],
  [1, 2, 1, 1],
  [2, 2, 1, 1],
  [1, 1 + 1e-9, 1, 6],
])('digitsFor an interval from %d to %d with at least %d decimals returns %d', (low, high, least, digits) => {
  expect(digitsFor(low, high, least)).toBe(digits);
});

const decimals = fc.record({
  low: fc.integer({ min: -1e14, max: 1e14 }),
  scale: fc.integer({ min: 0, max: 9 }),
  width: fc.oneof(
    fc.integer({ min: 1, max: 2000 }),
    // Powers of 10 and their neighbors, where one rounding error would change the number of decimals.
    fc
      .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -1, max: 1 }))
      .map(([n, by]) => Math.max(1, 10 ** n + by)),
  ),
});

it.each([
  ['as they are written', 0],
  ['multiplied by 100', 2],
])('digitsFor returns the fewest decimals that distinguish two numbers, %s', (_, shift) => {
  const inputs = decimals.map(({ low, scale, width }) => ({ low: low % (1e5 * 10 ** scale), scale, width }));
  fc.assert(
    fc.property(inputs, ({ low, scale, width }) => {
      const toNumber = (units: number) => 10 ** shift * (units / 10 ** (scale + shift));
      const [from, to] = [toNumber(low), toNumber(low + width)];
      // The comparison with >= is exact, because both of its sides are integers.
      const isEnough = (digits: number) =>
        width * 10 ** digits >= 10 ** scale && from.toFixed(digits) !== to.toFixed(digits);
      const digits = digitsFor(from, to, 0);
      if (digits < 6) expect(isEnough(digits)).toBe(true);
      if (digits > 0) expect(isEnough(digits - 1)).toBe(false);
    }),
    { numRuns: 5000 },
  );
});
