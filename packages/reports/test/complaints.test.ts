/** Tests that reports do not have the faults that users of the reference system have reported. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  averageFrequency,
  correctReport,
  exclusiveReach,
  grossRatingPoints,
  impressionsBeyond,
  incrementalReach,
  overlapOf,
  type Plan,
  planReport,
  reachCurve,
  rehearse,
  SolveError,
} from '../src/index.ts';
import { definitionOf, surroundingsOf } from './worlds.ts';

const PARAMS = { epsilon: 1, delta: 1e-9 };
const surroundings = surroundingsOf('honestMajorityShareShuffle', { population: 5_000_000 });
const noisy = {
  protocol: 'direct',
  width: 1,
  noise: { mechanism: 'DISCRETE_GAUSSIAN', params: PARAMS },
} as const;
const answersOf = (plan: Plan, toldBy: (plan: Plan['needs'][0]) => number): Map<string, Answer> =>
  new Map(plan.needs.map((planned) => [planned.key, { value: toldBy(planned), methodology: noisy }]));

const twoSegments = (parts = {}) =>
  definitionOf(2, {
    sets: { all: 'a | b', both: 'a & b' },
    figures: [{ metric: 'reach', of: ['all', 'both'] }],
    ...parts,
  });

describe('known complaints', () => {
  test('a total below its parts is corrected, and the report is INCONSISTENT if noise cannot explain it', async () => {
    const plan = await planReport(twoSegments(), surroundings);
    const report = (total: number) =>
      correctReport(
        plan,
        answersOf(plan, ({ union }) => (union === 3 ? total : 1000)),
      );
    const slight = report(998);
    expect(slight.state).toBe('COMPLETE');
    expect(slight.figures[0]!.value).toBeGreaterThanOrEqual(slight.figures[1]!.value!);
    const serious = report(500);
    expect(serious.state).toBe('INCONSISTENT');
    expect(serious.fits[0]!.p).toBeLessThan(0.001);
    expect(serious.figures[0]!.raw).toBe(500);
    expect(serious.figures[0]!.value).toBeGreaterThanOrEqual(500);
  });

  test('cumulative reach never decreases', async () => {
    const definition = twoSegments({
      figures: [{ metric: 'reach', of: ['all'], periods: 'weekly(MONDAY)', cumulative: true }],
    });
    const plan = await planReport(definition, surroundings);
    const weeks = [1000, 1010, 1005, 1007];
    const report = correctReport(
      plan,
      answersOf(plan, ({ key }) => weeks[plan.needs.findIndex((need) => need.key === key)]!),
    );
    const curve = reachCurve(report, 'all').map(({ reach }) => reach.value!);
    expect(curve).toEqual([...curve].sort((a, b) => a - b));
    expect(curve).toHaveLength(4);
  });

  test('a report with reaches of 0 and 438,000 impressions is INCONSISTENT', async () => {
    const figures = [
      { metric: 'reach', of: ['a', 'b', 'all'] },
      { metric: 'impressions', of: ['a', 'b'] },
    ];
    const plan = await planReport(twoSegments({ figures }), surroundings);
    const report = correctReport(
      plan,
      answersOf(plan, ({ need }) => (need.type === 'IMPRESSION' ? 219_000 : 0)),
    );
    expect(report.state).toBe('INCONSISTENT');
    expect(report.fits[0]!.suspect!.dataProviders).toHaveLength(1);
  });

  test('a failed correction throws a SolveError', async () => {
    const plan = await planReport(twoSegments(), surroundings);
    const broken = answersOf(plan, ({ union }) => (union === 3 ? Number.NaN : 1000));
    expect(() => correctReport(plan, broken)).toThrow(SolveError);
  });

  test('an inconsistent report names the suspect answer and data provider, and keeps the raw values', async () => {
    const plan = await planReport(
      twoSegments({ figures: [{ metric: 'reach', of: ['a', 'b', 'all'] }] }),
      surroundings,
    );
    const values: Record<number, number> = { 1: 2000, 2: 500, 3: 1500 };
    const { state, fits, figures } = correctReport(
      plan,
      answersOf(plan, ({ union }) => values[union]!),
    );
    expect(state).toBe('INCONSISTENT');
    const { suspect } = fits[0]!;
    expect(suspect!.dataProviders).toEqual(['dataProviders/a']);
    expect(plan.needs.find(({ key }) => key === suspect!.key)!.union).toBe(1);
    expect(figures.map(({ raw }) => raw)).toEqual([2000, 500, 1500]);
    expect(figures[0]!.value).toBeLessThanOrEqual(figures[2]!.value!);
  });

  test('a correction of 2 in 2.8 million does not fail the report', async () => {
    const plan = await planReport(twoSegments(), surroundings);
    const values: Record<number, number> = { 1: 2_800_000, 2: 0, 3: 2_799_998 };
    const report = correctReport(
      plan,
      answersOf(plan, ({ union }) => values[union]!),
    );
    expect(report.state).toBe('COMPLETE');
    expect(Math.abs(report.figures[0]!.value! - 2_799_999)).toBeLessThanOrEqual(1);
  });

  test('a missing answer is listed in the figures that require it, and other figures have values', async () => {
    const plan = await planReport(
      twoSegments({ figures: [{ metric: 'reach', of: ['all', 'both', 'a'] }] }),
      surroundings,
    );
    const answers = answersOf(plan, () => 1000);
    const lost = plan.needs.find(({ union }) => union === 3)!.key;
    answers.delete(lost);
    const { state, figures } = correctReport(plan, answers);
    expect(state).toBe('INCOMPLETE');
    expect(figures.map(({ missing }) => missing)).toEqual([[lost], [lost], []]);
    expect(figures[2]!.value).toBe(1000);
  });

  test('each figure has its σ and an interval that contains its value, and small figures are noise-dominated', async () => {
    const plan = await planReport(twoSegments(), surroundings);
    const report = correctReport(
      plan,
      answersOf(plan, ({ union }) => (union === 3 ? 2000 : 1001)),
    );
    const [all, both] = report.figures;
    // The overlap has √3 times the standard deviation of the union, because the overlap is computed from three noisy
    // numbers, and the union is one noisy number.
    expect(both!.standardDeviation! / all!.standardDeviation!).toBeCloseTo(Math.sqrt(3), 3);
    for (const { value, interval } of report.figures) {
      expect(interval![0]).toBeLessThanOrEqual(value!);
      expect(interval![1]).toBeGreaterThanOrEqual(value!);
    }
    expect(both!.interval![1] - both!.interval![0]).toBeGreaterThan(0);
    expect(all!.isNoiseDominated).toBe(false);
    expect(both!.isNoiseDominated).toBe(true);
  });

  test('a figure without stated noise has the standard deviation of rounding', async () => {
    const plan = await planReport(twoSegments({ figures: [{ metric: 'reach', of: ['a'] }] }), surroundings);
    const methodology = { protocol: 'direct', width: 1 } as const;
    const report = correctReport(plan, new Map([[plan.needs[0]!.key, { value: 1000, methodology }]]));
    expect(report.figures[0]!.standardDeviation).toBeCloseTo(Math.sqrt(1 / 12), 3);
  });

  test('reports include overlaps, weekly frequencies, a rehearsal and derived figures without measurements', async () => {
    const definition = twoSegments({
      figures: [
        { metric: 'reach', of: ['both'] },
        { metric: 'frequency', of: ['all'], maximumFrequency: 3 },
        { metric: 'frequency', of: ['all'], maximumFrequency: 3, periods: 'weekly(MONDAY)' },
        { metric: 'impressions', of: ['all'] },
      ],
    });
    const plan = await planReport(definition, surroundings);
    // The plan measures the union's frequencies, so it must not measure the union's reach again.
    expect(plan.needs.map(({ need }) => need.type).sort()).toEqual([
      ...['IMPRESSION', 'IMPRESSION', 'REACH', 'REACH'],
      ...new Array(5).fill('REACH_AND_FREQUENCY'),
    ]);
    expect(plan.measurements).toHaveLength(8);
    const rehearsal = rehearse(plan, surroundings);
    expect(rehearsal.figures.every(({ halfWidth }) => halfWidth! > 0)).toBe(true);
    const values = { REACH: 1200, REACH_AND_FREQUENCY: 2000, IMPRESSION: 2500, DURATION: 0 };
    const answers = answersOf(plan, ({ need }) => values[need.type]);
    for (const answer of answers.values()) if (answer.value === 2000) answer.shares = [0.5, 0.3, 0.2];
    const report = correctReport(plan, answers);
    const { period } = report.figures[0]!.figure;
    expect(overlapOf(report, { period }).reduce((sum, { people }) => sum + people.value, 0)).toBe(2000);
    expect(incrementalReach(report, ['a', 'b'], { period }).map((estimate) => estimate!.value)).toEqual([
      1200, 800,
    ]);
    expect(exclusiveReach(report, 'a', { period })!.value).toBe(800);
    const [, distribution] = report.figures;
    const impressions = report.figures.at(-1) as { value: number; interval: [number, number] };
    // The number of people at each frequency is rounded, so the sum of several such numbers can be off by one.
    const orMore = distribution!.frequencies!.map(({ orMore }) => orMore.value);
    for (const [i, people] of [2000, 1000, 400].entries())
      expect(Math.abs(orMore[i]! - people)).toBeLessThanOrEqual(1);
    const beyond = impressionsBeyond(2, impressions, distribution!.frequencies!).value;
    expect(beyond).toBe(5000 - orMore[0]! - orMore[1]!);
    expect(averageFrequency(impressions, distribution as typeof impressions)!.value).toBe(2.5);
    expect(grossRatingPoints(impressions, 5_000_000).value).toBe(0.1);
  });

  test('the source files import no module that reads keys, files or the network', () => {
    const folder = join(import.meta.dirname, '../src');
    const imported = globSync('**/*.ts', {
      cwd: folder,
      exclude: (name) => name.endsWith('.test.ts'),
    }).flatMap((file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(/^(?:import|export|\}).* from '([^.'][^']*)'/gm),
      ].map((match) => match[1]!),
    );
    expect([...new Set(imported)].sort()).toEqual([
      ...['@measurement-exchange/contract', '@measurement-exchange/mpc', '@measurement-exchange/mpc/charges'],
      // Allow these two modules, because they start the worker thread that corrects large reports.
      ...['node:path', 'node:worker_threads'],
    ]);
  });
});
