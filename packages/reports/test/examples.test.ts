import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import {
  correctReport,
  expressionOf,
  incrementalReach,
  overlapOf,
  type Plan,
  planReport,
  type Report,
  reachCurve,
  reachOf,
  rehearse,
} from '../src/index.ts';
import { type AtomSet, atomsOf } from '../src/sets/atoms.ts';
import { EXAMPLES, surroundings } from './examples.ts';
import { answer, reachIn, seeded, WORLDS } from './worlds.ts';

const POPULATION = 1_000_000;

function reportOf(plan: Plan, people: readonly number[]): Report {
  const random = seeded(2);
  const answers = plan.needs.map(
    (planned) => [planned.key, answer(planned, reachIn(people, planned.union), random, POPULATION)] as const,
  );
  return correctReport(plan, new Map(answers));
}

type Blocks = { period: Plan['figures'][0]['period']; group: Record<string, string> }[];

/**
 * Returns an ID for each number that a report shows. The numbers are the measured numbers, and the numbers that are
 * derived at no cost. A number counts only once, even if it has several names. For example, the cumulative reach of the
 * last week is the total reach, and the exclusive reach of a segment is an overlap. Percentages do not count, because
 * each one is a counted number divided by the population.
 */
function figuresIn(report: Report): Set<string> {
  const { plan, figures } = report;
  const told = new Set<string>();
  const add = (what: string, set: AtomSet, { period, group }: Blocks[0], value: number | undefined) => {
    expect(value).toBeDefined();
    told.add(JSON.stringify([what, plan.atoms.map((atom) => set[atom]).join(''), period, group]));
  };
  const setOf = (name: string) => atomsOf(expressionOf(plan.definition, name), plan.segments);
  const unionOf = (mask: number) =>
    Uint8Array.from({ length: 1 << plan.segments.length }, (_, atom) => (atom & mask ? 1 : 0));
  for (const { figure, value } of figures) add('reach', setOf(figure.of), figure, value);
  for (const block of blocksOf(report)) {
    for (const { segments, people } of overlapOf(report, block)) {
      const own = segments.reduce((mask, name) => mask | (1 << plan.segments.indexOf(name)), 0);
      add('reach', unionOf(0).fill(1, own, own + 1), block, people.value);
    }
    for (const name of plan.segments) {
      const alone = reachOf(report, name, block);
      if (alone) add('reach', setOf(name), block, alone.value);
    }
    // These figures are the incremental reach of each segment, and the reach of its union with all earlier segments.
    incrementalReach(report, plan.segments, block).forEach((added, i) => {
      const [before, now] = [unionOf((1 << i) - 1), unionOf((2 << i) - 1)];
      if (added)
        add(
          'reach',
          now.map((member, atom) => member - before[atom]!),
          block,
          added.value,
        );
      const together = reachOf(report, plan.segments.slice(0, i + 1).join(' | '), block);
      if (together) add('reach', now, block, together.value);
    });
  }
  for (const of of new Set(figures.map(({ figure }) => figure.of))) {
    for (const [i, { reach, added }] of reachCurve(report, of).entries())
      if (i > 0) add('added', setOf(of), reach.figure, added!.value);
    // Also count the groups of each single attribute, which the report derives from a breakdown by two attributes.
    const { age = [], sex = [] } = surroundings.attributes ?? {};
    for (const group of [...age.map((value) => ({ age: value })), ...sex.map((value) => ({ sex: value }))]) {
      const { period } = figures[0]!.figure;
      const people = reachOf(report, setOf(of), { period, group });
      if (people) add('reach', setOf(of), { period, group: group as Record<string, string> }, people.value);
    }
  }
  return told;
}

function blocksOf({ figures }: Report): Blocks {
  const blocks = figures.map(({ figure: { period, group } }) => ({ period, group: { ...group } }));
  return [...new Map(blocks.map((block) => [JSON.stringify(block), block])).values()];
}

describe('example reports', () => {
  test.for(EXAMPLES)('"%s" requires at most 0.6 measurements per figure', async ([name, definition]) => {
    const plan = await planReport(definition, surroundings);
    const figures = figuresIn(reportOf(plan, WORLDS.interior!(plan.segments.length))).size;
    const share = plan.measurements.length / figures;
    if (isStress)
      console.log(
        `R6 ${name}: ${plan.measurements.length} measurements, ${figures} figures, ${share.toFixed(3)}`,
      );
    expect(share).toBeLessThanOrEqual(0.6);
  });

  test.for(EXAMPLES)('"%s" requires no measurements or charges in a second run', async ([, definition]) => {
    const plan = await planReport(definition, surroundings);
    const answered = new Set(plan.needs.map(({ key }) => key));
    const second = await planReport(definition, { ...surroundings, answered });
    expect(second.measurements).toEqual([]);
    const { charges, reused } = rehearse(second, { ...surroundings, answered });
    expect([charges, reused]).toEqual([[], plan.needs.length]);
  });

  test('mark every figure of a report that is only noise as noise-dominated', async () => {
    const report = reportOf(await planReport(EXAMPLES[4]![1], surroundings), WORLDS.noise!(3));
    expect(report.figures.every(({ isNoiseDominated }) => isNoiseDominated)).toBe(true);
  });

  test('have plans with 7, 4, 7, 3 and 7 needs', async () => {
    const needs = await Promise.all(
      EXAMPLES.map(async ([, one]) => (await planReport(one, surroundings)).needs.length),
    );
    expect(needs).toEqual([7, 4, 7, 3, 7]);
  });
});
