import { expect, test } from 'vitest';
import { planReport, requireDefinition } from '../src/index.ts';
import { definitionOf, surroundingsOf } from './worlds.ts';

const [x, y] = ['dataProviders/one/eventGroups/x', 'dataProviders/one/eventGroups/y'];
const budget = { rho: 0.2, delta: 1e-9 };
const surroundings = surroundingsOf('honestMajorityShareShuffle', { population: 100_000 });

test('unions of nested segments with the same events share one need', async () => {
  const definition = definitionOf(2, {
    segments: { everything: { eventGroups: [x, y] }, tv: { eventGroups: [x] } },
    sets: { all: 'tv | everything' },
    figures: [{ metric: 'frequency', of: ['everything', 'all'], maximumFrequency: 5 }],
    budget,
  });
  const { needs, figures } = await planReport(requireDefinition(definition), surroundings);
  expect(needs.map(({ key }) => key)).toHaveLength(new Set(needs.map(({ key }) => key)).size);
  expect(needs).toHaveLength(1);
  expect(figures.map(({ terms }) => terms)).toEqual([
    [{ key: needs[0]!.key, weight: 1 }],
    [{ key: needs[0]!.key, weight: 1 }],
  ]);
});

test('a precision in percent of an expected 0 is rejected', async () => {
  const definition = definitionOf(2, {
    sets: { both: 'a & b' },
    figures: [{ metric: 'reach', of: ['both'], precision: '5 %' }],
    budget,
  });
  // Without a population, nobody is assumed to be in both segments.
  const unknown = surroundingsOf('honestMajorityShareShuffle', {});
  const plan = async () => planReport(requireDefinition(definition), unknown);
  await expect(plan()).rejects.toThrow('The precision of both is a percentage of an expected 0');
});
