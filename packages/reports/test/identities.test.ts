import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  correctReport,
  type FigureRequest,
  type Plan,
  type PlannedNeed,
  planReport,
  type Report,
  type ReportedFigure,
  reachOf,
  requireDefinition,
} from '../src/index.ts';
import { answer, definitionOf, NAMES, type Random, reachIn, seeded, surroundingsOf } from './worlds.ts';

const POPULATION = 20_000;
const ATTRIBUTES = { age: ['young', 'old'], sex: ['f', 'm'] };

const below = (random: Random, n: number) => Math.floor(random.next() * n);

function randomFigures(random: Random, segments: number): FigureRequest[] {
  // Let some reports ask only for the reach of groups, and not for the total reach of all people.
  if (random.next() < 0.15) return [{ metric: 'reach', of: ['all'], groups: 'both' }];
  const sets = ['all', 'common', 'rest', ...NAMES.slice(0, segments)];
  const periods = random.next() < 0.5 ? 'weekly(MONDAY)' : 'weekly(THURSDAY)';
  const some: FigureRequest[] = [
    { metric: 'reach', of: sets.filter(() => random.next() < 0.6).concat('all') },
    { metric: 'reach', of: ['all'], periods, cumulative: true },
    { metric: 'reach', of: ['all'], periods },
    { metric: 'reach', of: ['all'], groups: random.next() < 0.5 ? 'age' : 'both' },
    { metric: 'reach', of: ['all'], groups: 'age' },
    { metric: 'frequency', of: ['all'], maximumFrequency: 3 },
    { metric: 'impressions', of: ['all'] },
  ];
  return some.filter((_, i) => i === 0 || random.next() < 0.5);
}

async function randomPlan(random: Random): Promise<Plan> {
  const segments = 2 + below(random, 2);
  const names = NAMES.slice(0, segments);
  const definition = definitionOf(segments, {
    interval: { start: '2026-07-06', end: '2026-07-20', timeZone: 'UTC' },
    sets: { all: names.join(' | '), common: names.join(' & '), rest: `a - (${names.slice(1).join(' | ')})` },
    groups: { age: { by: ['age'] }, both: { by: ['age', 'sex'] } },
    figures: randomFigures(random, segments),
    // Use a budget in ε, because planning is then fast. With a budget in ρ, the planner searches for the noise of each
    // need.
    budget: { epsilon: 2, delta: 1e-6 },
  });
  const surroundings = surroundingsOf('honestMajorityShareShuffle', {
    population: POPULATION,
    attributes: ATTRIBUTES,
  });
  return planReport(requireDefinition(definition), surroundings);
}

/** Returns a random answer to a need. The random answers to different needs contradict each other. */
function wildAnswer(planned: PlannedNeed, random: Random): Answer {
  const people = below(random, random.next() < 0.1 ? 2 * POPULATION : 300);
  const told = answer(planned, people, random, POPULATION);
  if (planned.need.type !== 'REACH_AND_FREQUENCY') return told;
  return { ...told, shares: Array.from({ length: 3 }, () => random.next()) };
}

function expectIdentities(report: Report): void {
  const { figures, plan } = report;
  const figureOf = (found: ReportedFigure | undefined) => found?.value;
  for (const { value, interval } of figures) {
    expect(Number.isInteger(value)).toBe(true);
    expect(value).toBeGreaterThanOrEqual(0);
    expect(interval![0]).toBeLessThanOrEqual(value!);
    expect(interval![1]).toBeGreaterThanOrEqual(value!);
  }
  const total = figures.find(
    ({ figure }) => figure.of === 'all' && figure.request.metric === 'reach' && !figure.request.groups,
  );
  if (total === undefined) {
    expect(figures.reduce((sum, { value }) => sum + value!, 0)).toBeLessThanOrEqual(POPULATION);
    return;
  }
  expect(total.value).toBeLessThanOrEqual(POPULATION);
  const { period } = total.figure;
  const parts = plan.segments.map((name) => reachOf(report, name, { period })?.value);
  for (const part of parts) if (part !== undefined) expect(part).toBeLessThanOrEqual(total.value!);
  if (parts.every((part) => part !== undefined)) {
    expect(total.value).toBeLessThanOrEqual(parts.reduce((sum: number, part) => sum + part!, 0));
  }
  const curve = figures.filter(({ figure }) => figure.request.cumulative);
  for (const [i, { value }] of curve.entries())
    expect(value).toBeGreaterThanOrEqual(figureOf(curve[i - 1]) ?? 0);
  if (curve.length > 0) expect(curve.at(-1)!.value).toBe(total.value);
  const weeks = figures.filter(({ figure }) => figure.request.periods && !figure.request.cumulative);
  for (const { value } of weeks) expect(value).toBeLessThanOrEqual(total.value!);
  if (weeks.length > 0)
    expect(weeks.reduce((sum, { value }) => sum + value!, 0)).toBeGreaterThanOrEqual(total.value!);
  for (const request of new Set(
    figures.filter(({ figure }) => figure.request.groups).map(({ figure }) => figure.request),
  )) {
    const groups = figures.filter(({ figure }) => figure.request === request);
    expect(groups.reduce((sum, { value }) => sum + value!, 0)).toBe(total.value);
  }
  expectFrequencies(report, total.value!);
}

function expectFrequencies({ figures }: Report, reach: number): void {
  const distribution = figures.find(({ frequencies }) => frequencies);
  if (distribution === undefined) return;
  const bins = distribution.frequencies!;
  expect(bins.reduce((sum, { people }) => sum + people.value, 0)).toBe(reach);
  for (const [i, { orMore }] of bins.entries())
    expect(orMore.value).toBeLessThanOrEqual(bins[i - 1]?.orMore.value ?? reach);
  const impressions = figures.find(({ figure }) => figure.request.metric === 'impressions');
  const seen = bins.reduce((sum, { frequency, people }) => sum + frequency * people.value, 0);
  if (impressions) expect(impressions.value).toBeGreaterThanOrEqual(seen);
}

describe('identities', () => {
  test(`hold in whole numbers in ${rounds(10_000, 60)} random reports with contradictory answers`, async () => {
    const random = seeded(5);
    for (let i = 0; i < rounds(10_000, 60); i++) {
      const plan = await randomPlan(random);
      const answers = new Map(plan.needs.map((planned) => [planned.key, wildAnswer(planned, random)]));
      expectIdentities(correctReport(plan, answers));
    }
    if (isStress) console.log(`R3 all identities hold in ${rounds(10_000)} reports`);
  });

  /**
   * Answers whose impressions contradict the reaches. The bounds that connect impressions with reaches are tight, so
   * these answers are the hardest to correct.
   */
  const contradictions: { of: string; values: number[]; more: Partial<FigureRequest> }[] = [
    {
      of: 'frequencies',
      values: [0, 27_249, 181, 260, 137],
      more: { metric: 'frequency', maximumFrequency: 3 },
    },
    {
      of: 'weeks and groups',
      values: [62, 36, 20_000, 226, 103, 62, 135, 292, 36, 161, 132, 84, 139, 253, 34],
      more: { groups: 'age' },
    },
  ];
  test.for(contradictions)(
    'hold with $of and impressions that contradict all reaches',
    async ({ values, more }) => {
      const reach: FigureRequest = { metric: 'reach', of: ['all'] };
      const thursdays: FigureRequest = { ...reach, periods: 'weekly(THURSDAY)' };
      const definition = definitionOf(2, {
        interval: { start: '2026-07-06', end: '2026-07-20', timeZone: 'UTC' },
        sets: { all: 'a | b', common: 'a & b' },
        groups: { age: { by: ['age'] }, both: { by: ['age', 'sex'] } },
        figures: [
          { metric: 'reach', of: ['all', 'common'] },
          ...(more.groups
            ? [{ ...thursdays, cumulative: true }, thursdays, { ...reach, groups: 'both' }]
            : []),
          { ...reach, ...more },
          { metric: 'impressions', of: ['all'] },
        ],
        budget: { epsilon: 2, delta: 1e-6 },
      });
      const surroundings = { population: POPULATION, attributes: ATTRIBUTES };
      const plan = await planReport(definition, surroundingsOf('honestMajorityShareShuffle', surroundings));
      expect(plan.needs).toHaveLength(values.length);
      const answers = plan.needs.map(({ key, need, params, computed }, i) => {
        const noise = { mechanism: 'DISCRETE_GAUSSIAN', params } as const;
        const methodology = computed
          ? {
              protocol: 'honestMajorityShareShuffle' as const,
              width: 1,
              noise,
              frequencyVectorSize: POPULATION,
            }
          : { protocol: 'direct' as const, width: 1, noise };
        const shares = need.type === 'REACH_AND_FREQUENCY' && { shares: [0.948, 0.013, 0.066] };
        return [key, { value: values[i]!, methodology, ...shares }] as const;
      });
      const report = correctReport(plan, new Map(answers));
      expect(report.state).toBe('INCONSISTENT');
      expectIdentities(report);
    },
  );

  test('consistent answers are unchanged', async () => {
    const people = [0, 500, 400, 30, 600, 20, 10, 3];
    const definition = definitionOf(3, {
      sets: { common: 'a & b & c' },
      figures: [{ metric: 'reach', of: ['common', 'a'] }],
    });
    const plan = await planReport(definition, surroundingsOf('honestMajorityShareShuffle'));
    const exact = { protocol: 'direct', width: 1, noise: { mechanism: 'NONE' } } as const;
    const answers = new Map(
      plan.needs.map(({ key, union }) => [key, { value: reachIn(people, union), methodology: exact }]),
    );
    expect(correctReport(plan, answers).figures.map(({ value }) => value)).toEqual([3, 553]);
  });
});
