import { describe, expect, test } from 'vitest';
import { definitionOf, surroundingsOf } from '../../test/worlds.ts';
import { correctReport, planReport } from '../index.ts';

/** Returns the probability that discrete Gaussian noise is at most this far from 0. */
function probabilityWithin(distance: number, sigma: number): number {
  const end = Math.ceil(12 * sigma);
  let [within, all] = [0, 0];
  for (let x = -end; x <= end; x++) {
    const density = Math.exp(-(x ** 2) / (2 * sigma ** 2));
    all += density;
    if (Math.abs(x) <= distance) within += density;
  }
  return within / all;
}

describe('a 95 % interval', () => {
  test('covers at least 95 % of all draws with any amount of noise, although people are whole numbers', async () => {
    const definition = definitionOf(1, { figures: [{ metric: 'reach', of: ['a'] }] });
    const plan = await planReport(definition, surroundingsOf('honestMajorityShareShuffle'));
    const { key } = plan.needs[0]!;
    for (let epsilon = 0.2; epsilon < 8; epsilon *= 1.03) {
      const noise = { mechanism: 'DISCRETE_GAUSSIAN' as const, params: { epsilon, delta: 1e-9 } };
      const answer = { value: 1000, methodology: { protocol: 'direct' as const, width: 1, noise } };
      const { interval, standardDeviation } = correctReport(plan, new Map([[key, answer]])).figures[0]!;
      const [low, high] = interval!;
      for (const distance of [1000 - low, high - 1000]) {
        const covers = probabilityWithin(distance, standardDeviation!);
        expect(covers, `σ = ${standardDeviation}`).toBeGreaterThanOrEqual(0.95);
        expect(distance).toBeLessThanOrEqual(1.96 * standardDeviation! + 0.501);
      }
    }
  });
});
