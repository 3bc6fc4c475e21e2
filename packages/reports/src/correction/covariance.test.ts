import { expect, it } from 'vitest';
import { definitionOf, SKETCH, surroundingsOf } from '../../test/worlds.ts';
import { planReport } from '../plan/plan.ts';
import type { PlannedNeed } from '../plan/types.ts';
import { rowsOf } from './answers.ts';
import { covarianceOf } from './covariance.ts';

/**
 * Returns rows that are measured with sketches: the frequencies of a union of three publishers, and the reach of two of
 * these publishers.
 */
async function sketched(people: number, shares: readonly number[]) {
  const definition = definitionOf(3, {
    sets: { all: 'a | b | c', two: 'a | b' },
    figures: [
      { metric: 'frequency', of: ['all'], maximumFrequency: 4 },
      { metric: 'reach', of: ['two'] },
    ],
    budget: { rho: 0.05, delta: 1e-9 },
  });
  const { needs } = await planReport(definition, surroundingsOf('liquidLegionsV2'));
  const answer = ({ params, computed, need }: PlannedNeed) => ({
    value: people,
    methodology: {
      ...{ protocol: computed!.protocol as 'liquidLegionsV2', width: 1, ...SKETCH, duchies: 3 },
      noise: { mechanism: 'DISCRETE_GAUSSIAN' as const, params },
    },
    ...(need.type === 'REACH_AND_FREQUENCY' && { shares }),
  });
  const rows = needs.flatMap((planned) => rowsOf(planned, answer(planned)));
  return { rows, reach: rows.findIndex(({ frequency }) => frequency === undefined) };
}

it('the covariance of a reach with frequencies does not depend on the frequencies of the common people', async () => {
  const { rows, reach } = await sketched(9000, [0.4, 0.3, 0.2, 0.1]);
  const frequencyOf = (i: number, j: number) => rows[i === reach ? j : i]!.frequency!;
  const people = (i: number) => rows[i]!.value;
  const covariances = [
    (f: number) => 6000 * [0.4, 0.3, 0.2, 0.1][f - 1]!,
    (f: number) => (f === 4 ? 6000 : 0),
  ].map((inBoth) => covarianceOf(rows, (i, j) => (i === j ? people(i) : inBoth(frequencyOf(i, j)))));
  const [spread, alike] = covariances.map((matrix) => Array.from(matrix[reach]!));
  expect(spread!.every((value) => value > 0)).toBe(true);
  for (const [i, value] of spread!.entries()) expect(alike![i]).toBeCloseTo(value, 6);
});

it.each([[[1, 0, 0, 0]], [[0.1, 0, 0.9, 0]]])(
  'with the noisy shares %j, each frequency has over 20 % of the variance of the reach',
  async (shares) => {
    const { rows } = await sketched(0, shares);
    const covariance = covarianceOf(rows, (i, j) => (i === j ? rows[i]!.value : 0));
    const ofUnion = rows.flatMap(({ frequency }, i) => (frequency === undefined ? [] : [i]));
    const ofReach = ofUnion.reduce((sum, i) => ofUnion.reduce((own, j) => own + covariance[i]![j]!, sum), 0);
    for (const i of ofUnion) expect(covariance[i]![i]!).toBeGreaterThan(0.2 * ofReach);
  },
);
