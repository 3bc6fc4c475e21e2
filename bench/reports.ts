/**
 * Measures how long it takes to plan and to correct the largest reports. The yardstick of a plan is hashing its needs
 * (the quantities to measure), which no implementation can avoid. The yardstick of every correction is the solver
 * `quadprog` on a smaller problem: a total over 7 segments.
 */
import { performance } from 'node:perf_hooks';
import { correctReport, planReport } from '@measurement-exchange/reports';
import { LARGE, largePlan, MANY_FIGURES, surroundings } from '@measurement-exchange/reports/internal/large';
import { correctInThread } from '@measurement-exchange/reports/node';
import { solveQP } from 'quadprog';
import { figure, ratio, show } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { atMost, printTable, progress, type Section, type Verdict } from './lib/report.ts';

const PLAN_SECONDS = 1;
/**
 * The time limit is far above the time of every correction, so that a busy machine gives a slow figure, not an error.
 */
const limitMs = 600_000;

export async function reports({ rounds, quick }: Bench): Promise<Section> {
  const yardsticks: [name: string, work: () => unknown][] = [
    ['hashing of its needs', await hashing()],
    ['quadprog, 7 segments × total', () => quadprog(7)],
  ];
  const own: [name: string, seconds: number, work: () => unknown][] = [
    ['plan of 4,000 figures', PLAN_SECONDS, () => planReport(MANY_FIGURES, surroundings)],
  ];
  for (const [name, seconds, definition] of quick ? LARGE.slice(0, 1) : LARGE) {
    const [plan, answers] = await largePlan(definition);
    own.push([`correction of ${name}`, seconds, () => correctReport(plan, answers)]);
    own.push([`the same in a thread`, seconds, () => correctInThread(plan, answers, { limitMs })]);
  }
  const times = [...yardsticks, ...own].map((): number[] => []);
  // Round 0 only lets V8 compile the code, so it does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const [i, one] of [...yardsticks, ...own].entries()) {
      progress(`reports: ${one[0]}, round ${round} of ${rounds}`);
      const seconds = await timed(one.at(-1) as () => unknown);
      if (round > 0) times[i]!.push(seconds);
    }
  }
  printTable('Reports, in seconds', [
    ...yardsticks.map(([what], i) => ({ what: `yardstick: ${what}`, seconds: show(figure(times[i]!)) })),
    ...own.map(([what], i) => ({
      ...{ what, seconds: show(figure(times[i + 2]!)) },
      'of its yardstick': show(ratio(times[i + 2]!, times[i === 0 ? 0 : 1]!)),
    })),
  ]);
  const verdicts = own.map(
    ([what, seconds], i): Verdict => atMost(`${what}, s`, figure(times[i + 2]!), seconds),
  );
  return { name: 'reports', data: { names: [...yardsticks, ...own].map(([name]) => name), times }, verdicts };
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Returns a function that only hashes the needs of the large plan, with the platform's own SHA-256. */
async function hashing(): Promise<() => Promise<unknown>> {
  const { needs } = await planReport(MANY_FIGURES, surroundings);
  const texts = needs.map(({ need }) => new TextEncoder().encode(JSON.stringify(need)));
  return () => Promise.all(texts.map((text) => crypto.subtle.digest('SHA-256', text)));
}

/**
 * Solves the least squares problem of a report, with atoms ≥ 0 and unit variances. (An atom is the number of people in
 * exactly one combination of segments.) The solver's arrays start at index 1.
 */
function quadprog(segments: number): void {
  const all = Array.from({ length: (1 << segments) - 1 }, (_, i) => i + 1);
  const reach = (union: number) => 1000 * Math.sqrt(union) + (union % 7) * 30;
  const unions = (a: number, b: number) => all.filter((union) => union & a && union & b).length;
  const matrix = [[], ...all.map((a) => [0, ...all.map((b) => unions(a, b))])];
  const linear = [
    0,
    ...all.map((a) => all.reduce((sum, union) => (union & a ? sum + reach(union) : sum), 0)),
  ];
  const bounds = [[], ...all.map((a) => [0, ...all.map((b) => (a === b ? 1 : 0))])];
  const { message } = solveQP(matrix, linear, bounds, [0, ...all.map(() => 0)]);
  if (message !== '') throw new Error(message);
}
