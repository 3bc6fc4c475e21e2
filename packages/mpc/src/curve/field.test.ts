import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBytes, toNumber } from './bigEndian.ts';
import { Field } from './field.ts';
import { PRIME } from './limbs.ts';

const COUNT = 24;
const field = new Field(COUNT, 3);
const [a, b, c] = [field.array(), field.array(), field.array()];
field.use(COUNT);

const special = [0n, 1n, 2n, PRIME - 1n, PRIME - 2n, 2n ** 255n, 2n ** 29n - 1n];
const number = fc.oneof(fc.bigInt(0n, PRIME - 1n), fc.constantFrom(...special));
const numbers = fc.array(number, { minLength: COUNT, maxLength: COUNT });
const factor = fc.integer({ min: -3, max: 3 });

function put(into: number, values: bigint[]): void {
  for (const [i, value] of values.entries()) field.set(into, i, value);
}

function taken(from: number): bigint[] {
  return Array.from({ length: COUNT }, (_, i) => field.get(from, i));
}

function modulo(value: bigint): bigint {
  return ((value % PRIME) + PRIME) % PRIME;
}

test('numbers are multiplied, squared and combined with the same results as BigInt', () => {
  fc.assert(
    fc.property(numbers, numbers, factor, factor, (xs, ys, times, otherTimes) => {
      put(a, xs);
      put(b, ys);
      field.multiply(c, a, b);
      expect(taken(c)).toEqual(xs.map((x, i) => modulo(x * ys[i]!)));
      field.square(c, a);
      expect(taken(c)).toEqual(xs.map((x) => modulo(x * x)));
      field.combine(c, times, a, otherTimes, b);
      expect(taken(c)).toEqual(xs.map((x, i) => modulo(BigInt(times) * x + BigInt(otherTimes) * ys[i]!)));
    }),
    { numRuns: 40 },
  );
});

test('numbers stay exact over long chains of combinations and products', () => {
  fc.assert(
    fc.property(numbers, numbers, fc.array(fc.tuple(factor, factor), { maxLength: 300 }), (xs, ys, steps) => {
      put(a, xs);
      put(b, ys);
      let [left, right] = [xs, ys];
      for (const [times, otherTimes] of steps) {
        field.combine(a, times, a, otherTimes, b);
        left = left.map((x, i) => modulo(BigInt(times) * x + BigInt(otherTimes) * right[i]!));
        if (times !== 0) continue;
        field.multiply(b, b, a);
        right = right.map((y, i) => modulo(y * left[i]!));
      }
      expect(taken(a)).toEqual(left);
      expect(taken(b)).toEqual(right);
    }),
    { numRuns: 20 },
  );
});

test('numbers are inverted together, unless one of them is zero', () => {
  fc.assert(
    fc.property(numbers, (xs) => {
      put(a, xs);
      const inverses = field.inverse(a);
      if (xs.includes(0n)) {
        expect(inverses).toBeUndefined();
      } else {
        field.multiply(c, a, inverses!);
        expect(taken(c)).toEqual(xs.map(() => 1n));
      }
    }),
    { numRuns: 40 },
  );
});

test('the square of the root of a square is the square again', () => {
  fc.assert(
    fc.property(numbers, (xs) => {
      put(a, xs);
      field.square(b, a);
      field.squareRoot(c, b);
      field.square(c, c);
      expect(taken(c)).toEqual(xs.map((x) => modulo(x * x)));
    }),
    { numRuns: 20 },
  );
});

test('numbers are read from bytes and written to bytes, and numbers from the prime upward are rejected', () => {
  fc.assert(
    fc.property(numbers, (xs) => {
      const bytes = new Uint8Array(32);
      expect(xs.every((x, i) => field.read(a, i, toBytes(x), 0))).toBe(true);
      field.enter(a);
      expect(taken(a)).toEqual(xs);
      field.leave(b, a);
      xs.forEach((x, i) => {
        field.write(b, i, bytes, 0);
        expect(toNumber(bytes)).toBe(x);
        expect(field.isOdd(b, i)).toBe(x % 2n === 1n);
      });
    }),
    { numRuns: 20 },
  );
  for (const over of [PRIME, PRIME + 1n, 2n ** 256n - 1n])
    expect(field.read(a, 0, toBytes(over), 0)).toBe(false);
});
