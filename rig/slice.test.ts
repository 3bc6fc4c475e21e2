/** Runs one harness as a test, at the smallest scale (a slice). The other harnesses would take too long here. */
import { describe, expect, it } from 'vitest';
import { HARNESSES } from './harnesses.ts';
import { Random } from './random.ts';

const SEED = 1;
const IN_TESTS = ['H5'];

describe(`the rig, seed ${SEED}`, () => {
  for (const harness of HARNESSES.filter(({ id }) => IN_TESTS.includes(id))) {
    it(`${harness.id}: ${harness.title}`, { timeout: 180_000 }, async () => {
      const kept: Record<string, unknown> = {};
      const outcome = await harness.run({
        seed: SEED,
        random: new Random(SEED).fork(harness.id),
        scale: 'slice',
        planted: undefined,
        progress: () => {},
        save: (file, value) => {
          kept[file] = value;
        },
      });
      const replay = `npm run rig -- --slice --seed ${SEED} --only ${harness.id}`;
      expect(outcome.violations, `${replay}\n${JSON.stringify(kept, null, 1).slice(0, 20_000)}`).toEqual([]);
      expect(outcome.operations).toBeGreaterThan(0);
    });
  }
});
