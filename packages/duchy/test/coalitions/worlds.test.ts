import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { expect, test } from 'vitest';
import { advantageOf, chance, compareWorlds, expectHidden, promisedAdvantage } from './worlds.ts';

const COMPARISONS = 300;

/** Returns how many comparisons detect an attack with this true advantage. */
async function found(advantage: number, promised: number, runs: number): Promise<number> {
  const dice = new Dice(`advantage ${advantage}`);
  let times = 0;
  for (let i = 0; i < COMPARISONS; i++) {
    // Draw uniform scores, and shift them by `advantage` in one of the worlds. The true advantage is then exactly
    // `advantage`.
    const compared = await compareWorlds((world) => dice.below(1e6) / 1e6 + world * advantage, runs);
    if (compared.advantage > promised + chance(runs)) times++;
  }
  return times;
}

test('an advantage 0.45 above the promise is detected in 99 % of the comparisons of 200 runs', async () => {
  expect(await found(0.45, 0, 200)).toBeGreaterThanOrEqual(0.99 * COMPARISONS);
  expect(await found(0.6, 0.15, 200)).toBeGreaterThanOrEqual(0.99 * COMPARISONS);
});

test('no advantage is detected if the worlds are equal or differ by the promise', async () => {
  expect(await found(0, 0, 200)).toBe(0);
  expect(await found(0.3, 0.3, 200)).toBe(0);
});

test('advantageOf returns the largest difference of the shares of scores up to a threshold', () => {
  expect(advantageOf([1, 2, 3, 4], [1, 2, 3, 4])).toBe(0);
  expect(advantageOf([0, 0, 0], [1, 1, 1])).toBe(1);
  expect(advantageOf([1, 1, 1], [0, 0, 0])).toBe(1);
  expect(advantageOf([0, 0, 1, 1], [0, 1, 1, 1])).toBe(0.25);
  expect(advantageOf([3, 1, 2, 2], [2, 4, 4, 4])).toBe(0.75);
});

test('promisedAdvantage returns the highest advantage that a charge allows', () => {
  expect(promisedAdvantage({ rho: 0.02 })).toBeCloseTo(0.1, 12);
  expect(promisedAdvantage({ rho: 0.02, delta: 0.001 })).toBeCloseTo(0.101, 12);
  // Compare with randomized response at ε = 1. No other pair of distributions with this ε is easier to distinguish.
  const truthful = Math.E / (1 + Math.E);
  expect(promisedAdvantage({ epsilon: 1, delta: 0 })).toBeCloseTo(truthful - (1 - truthful), 12);
});

test('expectHidden throws above the promise plus chance, and not below', async () => {
  expect(() => expectHidden({ advantage: 0.1 + chance(200) + 0.001, runs: 200 }, 0.1)).toThrow();
  expect(() => expectHidden({ advantage: 0.1 + chance(200) - 0.001, runs: 200 }, 0.1)).not.toThrow();
  await expect(compareWorlds(() => Number.NaN, 1)).rejects.toThrow('finite');
});
