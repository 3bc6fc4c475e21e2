import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { chiSquaredTail } from '../src/correction/chiSquared.ts';
import { correctReport, type Plan, planReport, rehearse } from '../src/index.ts';
import { answer, definitionOf, reachIn, seeded, surroundingsOf, WORLDS } from './worlds.ts';

const POPULATION = 100_000;

const surroundings = surroundingsOf('honestMajorityShareShuffle', { population: POPULATION });

const planOf = () =>
  planReport(
    definitionOf(3, {
      sets: { common: 'a & b & c', others: '(b & c) - a' },
      figures: [{ metric: 'reach', of: ['common', 'others'] }],
      budget: { rho: 0.002, delta: 1e-9 },
    }),
    surroundings,
  );

function answersOf(plan: Plan, people: readonly number[], random: ReturnType<typeof seeded>, liar?: string) {
  return new Map(
    plan.needs.map((planned) => {
      const told = answer(planned, reachIn(people, planned.union), random, POPULATION);
      const lies = planned.computed === undefined && planned.dataProviders[0] === liar;
      return [planned.key, lies ? { ...told, value: Math.round(told.value * 1.2) } : told];
    }),
  );
}

describe('fit', () => {
  test('names a provider that overstates its answers by 20 %, or 10 σ, in at least 95 % of the runs', async () => {
    const plan = await planOf();
    const random = seeded(23);
    const runs = rounds(200, 60);
    // The publishers are disjoint, so nobody is reached by exactly two of them. If one publisher overstates its reach
    // by 20 %, the measured number of people reached by exactly the other two publishers falls below 0. The publishers
    // are so large that this number falls by 10 standard deviations.
    const { halfWidth } = rehearse(plan, surroundings).figures[1]!;
    const each = Math.round((10 * (halfWidth! / 1.96)) / 0.2);
    const people = [0, each, each, 0, each, 0, 0, 0];
    let named = 0;
    for (let i = 0; i < runs; i++) {
      const liar = `dataProviders/${'abc'[i % 3]}`;
      const { state, fits } = correctReport(plan, answersOf(plan, people, random, liar));
      if (state === 'INCONSISTENT' && fits[0]!.suspect!.dataProviders.join() === liar) named++;
    }
    if (isStress) console.log(`R5 ${named} of ${runs} liars are named`);
    expect(named / runs).toBeGreaterThanOrEqual(0.95);
  });

  test('reports at most 0.1 % of honest answers as inconsistent', async () => {
    const plan = await planOf();
    const random = seeded(29);
    const worlds = Object.values(WORLDS).map((world) => world(3));
    const runs = rounds(5000, 500);
    let alarms = 0;
    for (let i = 0; i < runs; i++) {
      if (correctReport(plan, answersOf(plan, worlds[i % worlds.length]!, random)).state !== 'COMPLETE')
        alarms++;
    }
    if (isStress) console.log(`R5 ${alarms} false alarms of ${runs}`);
    expect(alarms / runs).toBeLessThanOrEqual(0.001);
  });

  test('chiSquaredTail returns the values of published tables', () => {
    expect(chiSquaredTail(10.828, 1)).toBeCloseTo(0.001, 6);
    expect(chiSquaredTail(3.841, 1)).toBeCloseTo(0.05, 4);
    expect(chiSquaredTail(29.588, 10)).toBeCloseTo(0.001, 6);
    expect(chiSquaredTail(99.334, 100)).toBeCloseTo(0.5, 4);
  });
});
