/** Large reports with honest answers, for tests and benchmarks of how long plans and corrections take. */
import {
  type Answer,
  type FigureRequest,
  type Plan,
  planReport,
  type ReportDefinition,
} from '../src/index.ts';
import type { PlannedNeed } from '../src/plan/types.ts';
import { answer, definitionOf, NAMES, reachIn, seeded, surroundingsOf } from './worlds.ts';

const POPULATION = 10_000_000;
const ATTRIBUTES = { age: ['young', 'middle', 'old'], sex: ['f', 'm'] };
/** The share of each group among the people reached. */
const GROUP_SHARES: Record<string, number> = { young: 0.5, middle: 0.3, old: 0.2, f: 0.6, m: 0.4 };
const QUARTER = { start: '2026-07-06', end: '2026-10-05', timeZone: 'UTC' };
const WEEK_MS = 7 * 86_400_000;

export const surroundings = surroundingsOf('honestMajorityShareShuffle', {
  population: POPULATION,
  attributes: ATTRIBUTES,
});

const all = (segments: number) => ({ all: NAMES.slice(0, segments).join(' & ') });
const weekly: FigureRequest = { metric: 'reach', of: ['all'], periods: 'weekly(MONDAY)', cumulative: true };

/** A report of 10 sets on each of 400 days. */
export const MANY_FIGURES: ReportDefinition = definitionOf(4, {
  interval: { start: '2026-01-01', end: '2027-02-05', timeZone: 'UTC' },
  sets: Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`s${i}`, NAMES.slice(0, 2 + (i % 3)).join(i % 2 ? ' & ' : ' | ')]),
  ),
  figures: [{ metric: 'reach', of: Array.from({ length: 10 }, (_, i) => `s${i}`), periods: 'daily' }],
});

const quarter = (figures: FigureRequest[]) =>
  definitionOf(4, {
    interval: QUARTER,
    sets: all(4),
    groups: { ageBySex: { by: ['age', 'sex'] } },
    figures,
  });

/** Smaller versions of the definitions in `LARGE`, for tests that run often. */
export const SMALLER: typeof LARGE = [
  ['6 segments × total', 1, definitionOf(6, { sets: all(6), figures: [{ metric: 'reach', of: ['all'] }] })],
  [
    '4 segments × 3 weeks × 6 groups and total',
    1,
    {
      ...quarter([{ ...weekly, groups: 'ageBySex' }, weekly]),
      interval: { ...QUARTER, end: '2026-07-27' },
    },
  ],
];

/** Definitions, each with the maximum number of seconds for its correction. */
export const LARGE: [name: string, seconds: number, definition: ReportDefinition][] = [
  ['8 segments × total', 1, definitionOf(8, { sets: all(8), figures: [{ metric: 'reach', of: ['all'] }] })],
  ['4 segments × 13 weeks × 6 groups', 10, quarter([{ ...weekly, groups: 'ageBySex' }])],
  ['4 segments × 13 weeks × 6 groups and total', 10, quarter([{ ...weekly, groups: 'ageBySex' }, weekly])],
];

export async function largePlan(definition: ReportDefinition): Promise<[Plan, Map<string, Answer>]> {
  const plan = await planReport(definition, surroundings);
  const random = seeded(1);
  const answers = plan.needs.map(
    (planned) =>
      [planned.key, answer(planned, truthOf(planned, plan.segments.length), random, POPULATION)] as const,
  );
  return [plan, new Map(answers)];
}

const random = seeded(8);
const ATOMS = Array.from({ length: 256 }, (_, atom) => (atom === 0 ? 0 : Math.floor(random.next() * 3000)));

/**
 * Returns the true reach for a need. The reach is proportional to the number of weeks. Each group has a fixed share of
 * the people, and the total is the sum of the groups.
 */
function truthOf({ need: { period, group }, union }: PlannedNeed, segments: number): number {
  const weeks = (Date.parse(period.end) - Date.parse(period.start)) / WEEK_MS;
  const cells = ATTRIBUTES.age.flatMap((age) => ATTRIBUTES.sex.map((sex) => ({ age, sex })));
  return cells
    .filter((cell) => Object.entries(group).every(([name, value]) => cell[name as 'age'] === value))
    .reduce((sum, { age, sex }) => {
      const share = GROUP_SHARES[age]! * GROUP_SHARES[sex]!;
      const people = ATOMS.slice(0, 1 << segments).map((atom) => Math.round(atom * weeks * share));
      return sum + reachIn(people, union);
    }, 0);
}
