import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import {
  correctReport,
  type Estimate,
  overlapOf,
  type Plan,
  planReport,
  type Report,
  reachOf,
  requireDefinition,
} from '../src/index.ts';
import { Crowd, frequenciesOf } from './crowd.ts';
import { definitionOf, NAMES, type ProtocolName, reachIn, seeded, surroundingsOf, WORLDS } from './worlds.ts';

const POPULATION = 100_000;
/** In stress runs, a figure whose coverage in the first runs is below `DOUBTFUL` is judged by further runs. */
const [RUNS, FURTHER_RUNS] = [Math.ceil(rounds(1500, 10)), Math.ceil(rounds(6000))];
const [LEAST, DOUBTFUL] = [0.94, 0.95];
/** Five segments with sketches take 15 minutes on an idle core. The timeout is four times as long. */
const TIMEOUT_MS = 3_600_000;

interface Case {
  protocol: ProtocolName | 'direct';
  segments: number;
  width: number;
}

async function planOf({ protocol, segments, width }: Case): Promise<Plan> {
  const names = NAMES.slice(0, segments);
  const oneProvider = Object.fromEntries(
    names.map((name) => [name, { eventGroups: [`dataProviders/one/eventGroups/${name}`] }]),
  );
  const hasFrequency = protocol !== 'reachOnlyLiquidLegionsV2';
  const definition = definitionOf(segments, {
    sets: { common: names.join(' & '), all: names.join(' | ') },
    figures: [
      { metric: 'reach', of: ['common'] },
      ...(hasFrequency ? [{ metric: 'frequency' as const, of: ['all'], maximumFrequency: 4 }] : []),
    ],
    budget: { rho: 0.05, delta: 1e-9 },
    ...(protocol === 'direct' && { segments: oneProvider }),
  });
  const surroundings = surroundingsOf(protocol === 'direct' ? 'honestMajorityShareShuffle' : protocol, {
    population: POPULATION,
    vidSamplingInterval: { start: 0, width },
  });
  return planReport(requireDefinition(definition), surroundings);
}

interface Shown {
  id: string;
  figure: Estimate;
  truth: number;
}

/**
 * Returns every figure of the report with its true value. The figures are all overlaps, all unions, and all
 * frequencies.
 */
function shownIn(report: Report, world: readonly number[]): Shown[] {
  const { plan, figures } = report;
  const { period } = plan.needs[0]!.need;
  const overlaps = overlapOf(report, { period }).map(({ segments, people }) => {
    const atom = segments.reduce((mask, name) => mask | (1 << plan.segments.indexOf(name)), 0);
    return { id: `only ${segments.join(' & ')}`, figure: people, truth: world[atom]! };
  });
  const unions = Array.from({ length: (1 << plan.segments.length) - 1 }, (_, i) => {
    const id = NAMES.filter((_, bit) => (i + 1) & (1 << bit)).join(' | ');
    return { id, figure: reachOf(report, id, { period })!, truth: reachIn(world, i + 1) };
  });
  const atFrequency = world.map(frequenciesOf);
  const truth = (from: number, to: number) =>
    atFrequency.reduce((sum, counts) => sum + counts.slice(from, to).reduce((a, b) => a + b, 0), 0);
  const frequencies = (figures[1]?.frequencies ?? []).flatMap(({ frequency: k, people, orMore }) => [
    { id: `${k} times`, figure: people, truth: truth(k - 1, k) },
    { id: `${k} times or more`, figure: orMore, truth: truth(k - 1, 4) },
  ]);
  return [...overlaps, ...unions, ...frequencies];
}

interface Result {
  coverage: Map<string, number>;
  rmse: readonly [corrected: number, raw: number];
  alarms: number;
}

function simulate(plan: Plan, world: readonly number[], runs: number, width: number, seed: number): Result {
  const covered = new Map<string, number>();
  let [corrected, raw, alarms] = [0, 0, 0];
  const crowd = new Crowd(
    world,
    { population: POPULATION, width, mechanism: 'DISCRETE_GAUSSIAN' },
    seeded(seed),
  );
  const isSketch = plan.needs.some(({ computed }) => computed?.protocol.endsWith('LegionsV2'));
  for (let i = 0; i < runs; i++) {
    const run = crowd.draw(isSketch);
    const answers = new Map(plan.needs.map((planned) => [planned.key, crowd.answer(planned, run)]));
    const report = correctReport(plan, answers);
    if (report.state !== 'COMPLETE') alarms++;
    for (const { id, figure, truth } of shownIn(report, world)) {
      const isIn = figure.interval[0] <= truth && truth <= figure.interval[1];
      covered.set(id, (covered.get(id) ?? 0) + (isIn ? 1 : 0));
      corrected += (figure.value - truth) ** 2;
      raw += (figure.raw - truth) ** 2;
    }
  }
  const coverage = new Map([...covered].map(([id, count]) => [id, count / runs]));
  return { coverage, rmse: [Math.sqrt(corrected / runs), Math.sqrt(raw / runs)], alarms };
}

const lowestOf = (coverage: ReadonlyMap<string, number>) =>
  [...coverage].reduce((least, one) => (one[1] < least[1] ? one : least));

/**
 * Returns the coverage of every figure. In stress runs, figures with a low coverage in the first runs are judged by the
 * further runs alone, because the low coverage may be due to chance.
 */
function judged(plan: Plan, world: readonly number[], width: number, seed: number): Result {
  const first = simulate(plan, world, RUNS, width, seed);
  const doubtful = [...first.coverage].filter(([, share]) => share < DOUBTFUL);
  if (!isStress || doubtful.length === 0) return first;
  const further = simulate(plan, world, FURTHER_RUNS, width, seed + 1000);
  const coverage = new Map(first.coverage);
  for (const [id] of doubtful) coverage.set(id, further.coverage.get(id)!);
  return { ...further, coverage };
}

describe('95 % intervals cover the true values, and the correction adds no error', () => {
  const protocols = [
    'direct',
    'honestMajorityShareShuffle',
    'reachOnlyLiquidLegionsV2',
    'liquidLegionsV2',
  ] as const;
  const cases = protocols.flatMap((protocol): Case[] => {
    // Outside stress runs, test fewer cases with sketches, because sketches take longest to simulate.
    const isShort = !isStress && protocol.endsWith('LegionsV2');
    return [
      ...(isStress ? [2, 3, 4, 5] : [2]).map((segments) => ({ protocol, segments, width: 1 })),
      ...(isShort ? [] : [{ protocol, segments: 3, width: 0.4 }]),
    ];
  });
  test.for(cases)('for $protocol, $segments segments, width $width', { timeout: TIMEOUT_MS }, async (one) => {
    const plan = await planOf(one);
    for (const [name, world] of Object.entries(WORLDS)) {
      const { coverage, rmse, alarms } = judged(plan, world(one.segments), one.width, 17 + one.segments);
      const [figure, lowest] = lowestOf(coverage);
      const mean = [...coverage.values()].reduce((sum, share) => sum + share, 0) / coverage.size;
      if (isStress) {
        const errors = rmse.map((error) => error.toFixed(1)).join(' of ');
        console.log(
          `R2 ${one.protocol} ${one.segments} × ${one.width} ${name}: lowest ${lowest.toFixed(4)} (${figure}), ` +
            `mean ${mean.toFixed(4)}, RMSE ${errors}, alarms ${alarms}`,
        );
      }
      // Outside stress runs, there are too few runs to judge the coverage of each figure, so judge only the mean over
      // all figures.
      const least = isStress ? LEAST : LEAST - 3 * Math.sqrt((LEAST * (1 - LEAST)) / RUNS);
      expect(isStress ? lowest : mean, `${name}: coverage of ${figure}`).toBeGreaterThanOrEqual(least);
      expect(rmse[0], `${name}: corrected against raw error`).toBeLessThanOrEqual(
        rmse[1] * (isStress ? 1.001 : 1.05),
      );
    }
  });
});
