/**
 * Tests the bounds between impressions and reaches. The correction must not change answers that satisfy these bounds.
 */
import { expect, test } from 'vitest';
import { type Answer, correctReport, type Methodology, planReport } from '../src/index.ts';
import { definitionOf, surroundingsOf } from './worlds.ts';

const methodology: Methodology = {
  protocol: 'direct',
  width: 1,
  noise: { mechanism: 'DISCRETE_GAUSSIAN', params: { epsilon: 1, delta: 1e-9 } },
};
/** The reach of each union of three publishers, with typical values of a campaign. */
const REACHES = [0, 22_650, 10_100, 28_240, 16_061, 31_485, 22_918, 35_262];
const SHARES = [0.267, 0.2066, 0.156, 0.1106, 0.2598];

test('the correction changes figures by less than 2 if reaches, frequencies and impressions are consistent', async () => {
  const definition = definitionOf(3, {
    sets: { all: 'a | b | c', onlyA: 'a - (b | c)', onlyB: 'b - (a | c)', onlyC: 'c - (a | b)' },
    figures: [
      { metric: 'reach', of: ['all', 'a', 'b', 'c', 'onlyA', 'onlyB', 'onlyC'] },
      { metric: 'frequency', of: ['all'], maximumFrequency: 5 },
      { metric: 'impressions', of: ['all', 'a', 'b', 'c'] },
    ],
  });
  const plan = await planReport(definition, surroundingsOf('honestMajorityShareShuffle'));
  const impressions: Record<string, number> = { a: 65_999, b: 20_216, c: 35_343 };
  const answers = plan.needs.map(({ key, need, union, dataProviders }): [string, Answer] => {
    const value =
      need.type === 'IMPRESSION' ? impressions[dataProviders[0]!.split('/')[1]!]! : REACHES[union]!;
    return [key, { value, methodology, ...(need.maximumFrequency && { shares: SHARES }) }];
  });
  const report = correctReport(plan, new Map(answers));
  expect(report.state).toBe('COMPLETE');
  for (const { value, raw } of report.figures) expect(Math.abs(value! - raw!)).toBeLessThan(2);
});
