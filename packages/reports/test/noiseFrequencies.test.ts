import { expect, test } from 'vitest';
import { correctReport, planReport } from '../src/index.ts';
import { Crowd } from './crowd.ts';
import { definitionOf, seeded, surroundingsOf, WORLDS } from './worlds.ts';

const POPULATION = 100_000;

/**
 * Measures a world (a test population, see worlds.ts) with a sketch. Returns the interval of the reach, and the
 * frequencies with their intervals.
 */
async function intervalsIn(world: readonly number[], seed: number) {
  const surroundings = surroundingsOf('liquidLegionsV2', { population: POPULATION });
  const definition = definitionOf(2, {
    figures: [{ metric: 'frequency', of: ['all'], maximumFrequency: 4 }],
    sets: { all: 'a | b' },
    budget: { rho: 0.05, delta: 1e-9 },
  });
  const plan = await planReport(definition, surroundings);
  const options = { population: POPULATION, width: 1, mechanism: 'DISCRETE_GAUSSIAN' } as const;
  const crowd = new Crowd(world, options, seeded(seed));
  const run = crowd.draw(true);
  const answers = new Map(plan.needs.map((planned) => [planned.key, crowd.answer(planned, run)]));
  const [figure] = correctReport(plan, answers).figures;
  return { reach: figure!.interval!, frequencies: figure!.frequencies! };
}

test('the interval of a frequency that is only noise is from 0 to the upper bound of the reach', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { reach, frequencies } = await intervalsIn(WORLDS.noise!(2), seed);
    for (const { people } of frequencies) expect(people.interval).toEqual([0, reach[1]]);
  }
});

test('the interval of a frequency with many people is narrower than half of the upper bound of the reach', async () => {
  const { reach, frequencies } = await intervalsIn([0, 8000, 8000, 8000], 1);
  const width = ([low, high]: [number, number]) => high - low;
  for (const { people } of frequencies) expect(width(people.interval)).toBeLessThan(reach[1] / 2);
});
