import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, correctReport, type Plan, planReport, SolveError } from '../src/index.ts';
import { correctInThread } from '../src/worker/node.ts';
import { LARGE, largePlan } from './large.ts';
import { answer, definitionOf, seeded, surroundingsOf } from './worlds.ts';

async function small() {
  const plan = await planReport(
    definitionOf(2, { sets: { both: 'a & b' }, figures: [{ metric: 'reach', of: ['both'] }] }),
    surroundingsOf('honestMajorityShareShuffle', { population: 10_000 }),
  );
  const random = seeded(4);
  return [plan, new Map(plan.needs.map((need) => [need.key, answer(need, 1000, random, 10_000)]))] as const;
}

describe('a correction in a thread', () => {
  let plan: Plan;
  let answers: Map<string, Answer>;
  beforeAll(async () => {
    [plan, answers] = await largePlan(LARGE[1]![2]);
  });

  test('returns the same report as a correction outside of a thread', async () => {
    const [plan, answers] = await small();
    expect(await correctInThread(plan, answers)).toEqual(correctReport(plan, answers));
  });

  test('does not block the caller, and rejects with a SolveError at its time limit', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const limited = correctInThread(plan, answers, { limitMs: 300 });
    await expect(limited).rejects.toThrow(
      new SolveError('The correction did not end within 0.3 s: ask for fewer periods, groups, or segments.'),
    );
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
  });

  test('rejects with the reason if its caller aborts', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const aborted = correctInThread(plan, answers, { signal: controller.signal });
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await expect(correctInThread(plan, answers, { signal: controller.signal })).rejects.toBe(reason);
  });

  test('rejects with a SolveError if there is no solution', async () => {
    const [plan, answers] = await small();
    const [key] = answers.keys();
    answers.set(key!, { ...answers.get(key!)!, value: Number.NaN });
    await expect(correctInThread(plan, answers)).rejects.toThrow(SolveError);
  });
});
