/**
 * Tests the correction of the report in `docs/examples/campaign.yaml` with honest answers, which are the true values
 * plus the stated noise. The report has weeks, groups and overlaps of three publishers.
 */
import { readFile } from 'node:fs/promises';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { INCONSISTENT_BELOW } from '../src/correction/fit.ts';
import { correctReport, planReport, type ReportDefinition, requireDefinition } from '../src/index.ts';
import type { PlannedNeed } from '../src/plan/types.ts';
import { answer, seeded, surroundingsOf } from './worlds.ts';

const POPULATION = 20_000;
const ATTRIBUTES = { sex: ['F', 'M'], age: ['18-34', '35-54', '55+'] };
const DAYS = 28;
/**
 * With this small budget, the standard deviation of the answers is about 35 people. With the example's own budget, the
 * standard deviation would be about 6 people. The p-values would then not be uniform, because answers are whole numbers
 * and few values of χ² would be possible.
 */
const BUDGET = { rho: 0.01, delta: 1e-9 };
/** The share of people that each publisher reaches. */
const SHARES = [0.45, 0.32, 0.2];

const random = seeded(31);
const oneOf = (values: readonly string[]) => values[Math.floor(random.next() * values.length)]!;
/**
 * The attributes of each person, and the time at which each publisher first reaches the person. The time is in days
 * from the start of the report, and is Infinity if the publisher does not reach the person.
 */
const people = Array.from({ length: POPULATION }, () => ({
  attributes: { sex: oneOf(ATTRIBUTES.sex), age: oneOf(ATTRIBUTES.age) } as Record<string, string>,
  days: SHARES.map((share) => (random.next() < share ? DAYS * random.next() ** 2 : Number.POSITIVE_INFINITY)),
}));

async function campaign() {
  const file = new URL('../../../docs/examples/campaign.yaml', import.meta.url);
  const definition: ReportDefinition = parse(await readFile(file, 'utf8'));
  const segments = Object.keys(definition.segments).map((name) => [
    name,
    { eventGroups: [`dataProviders/${name}/eventGroups/1`] },
  ]);
  return planReport(
    requireDefinition({ ...definition, segments: Object.fromEntries(segments), budget: BUDGET }),
    surroundingsOf('honestMajorityShareShuffle', { population: POPULATION, attributes: ATTRIBUTES }),
  );
}

function truthOf({ need: { period, group }, union }: PlannedNeed): number {
  const days = (Date.parse(period.end) - Date.parse(period.start)) / 86_400_000;
  const isIn = (attributes: Record<string, string>) =>
    Object.entries(group).every(([name, value]) => attributes[name] === value);
  const isReached = (first: readonly number[]) => first.some((day, i) => union & (1 << i) && day < days);
  return people.filter((one) => isIn(one.attributes) && isReached(one.days)).length;
}

test('the p-value of the fit is uniform if all answers are honest', async () => {
  const plan = await campaign();
  const truths = new Map(plan.needs.map((planned) => [planned.key, truthOf(planned)]));
  const runs = rounds(5000, 100);
  const values = Array.from({ length: runs }, () => {
    const answers = plan.needs.map(
      (planned) => [planned.key, answer(planned, truths.get(planned.key)!, random, POPULATION)] as const,
    );
    const { fits } = correctReport(plan, new Map(answers));
    expect(fits).toHaveLength(1);
    return fits[0]!.p;
  });
  for (const bound of [INCONSISTENT_BELOW, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95]) {
    const share = values.filter((p) => p < bound).length / runs;
    if (isStress) console.log(`R5 campaign: ${share.toFixed(4)} of ${runs} p-values are below ${bound}`);
    const error = Math.sqrt((bound * (1 - bound)) / runs);
    // Allow an additional difference of 2 / runs. With few runs, the share of p-values below a small bound, such as 1
    // in 1,000, is not normally distributed.
    expect(Math.abs(share - bound), `below ${bound}`).toBeLessThanOrEqual(4 * error + 2 / runs);
  }
});
