import { describe, expect, test } from 'vitest';
import {
  addWords,
  areBelow,
  isPrime,
  MAX_MODULUS,
  productTable,
  subtractWords,
  wordAligned,
  wordsOf,
} from './ring.ts';

/**
 * Returns all pairs of values. The first values of neighboring pairs differ, so neighboring bytes in a word of first
 * values differ, too.
 */
function allPairs(modulus: number): [number, number][] {
  return Array.from({ length: modulus * modulus }, (_, i) => [i % modulus, Math.floor(i / modulus)]);
}

describe('words of four values', () => {
  test('are added and subtracted like single values, for every modulus and pair', () => {
    for (let modulus = 2; modulus <= MAX_MODULUS; modulus++) {
      const pairs = allPairs(modulus);
      const [a, b] = [wordAligned(pairs.length), wordAligned(pairs.length)];
      pairs.forEach(([x, y], i) => {
        a[i] = x;
        b[i] = y;
      });
      const sum = wordAligned(pairs.length);
      sum.set(a);
      addWords(modulus, wordsOf(sum), 0, wordsOf(b), wordsOf(sum).length);
      const difference = wordAligned(pairs.length);
      difference.set(a);
      subtractWords(modulus, wordsOf(difference), 0, wordsOf(b), wordsOf(difference).length);
      const wrong = pairs.filter(
        ([x, y], i) => sum[i] !== (x + y) % modulus || difference[i] !== (x - y + modulus) % modulus,
      );
      expect(wrong).toEqual([]);
    }
  });

  test('are added from the given offset, for the given number of words', () => {
    const into = wordAligned(16).fill(3);
    addWords(5, wordsOf(into), 1, wordsOf(wordAligned(8).fill(4)), 2);
    expect([...into]).toEqual([3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3]);
  });
});

test('productTable contains the product of every pair', () => {
  for (const modulus of [2, 3, 101, 127]) {
    const table = productTable(modulus);
    for (const [x, y] of allPairs(modulus)) expect(table[x * MAX_MODULUS + y]).toBe((x * y) % modulus);
  }
});

test('areBelow returns false for one value that is not below the modulus, at any position', () => {
  for (let at = 0; at < 9; at++) {
    const values = new Uint8Array(9).fill(100);
    expect(areBelow(101, values)).toBe(true);
    for (const value of [101, 127, 128, 255]) {
      values[at] = value;
      expect(areBelow(101, values)).toBe(false);
    }
  }
});

test('isPrime accepts the 31 prime numbers up to 128', () => {
  const primes = Array.from({ length: 129 }, (_, n) => n).filter(isPrime);
  expect(primes).toHaveLength(31);
  expect(primes.slice(0, 5)).toEqual([2, 3, 5, 7, 11]);
  expect(primes.at(-1)).toBe(127);
});
