import { newSeed } from '@measurement-exchange/mpc/shares';
import { expect, test } from 'vitest';
import { stageSeed } from './stageSeed.ts';

test('stageSeed returns the same seed for a stage, and different seeds for other stages and secrets', () => {
  const [one, other] = [{ noiseSeed: newSeed() }, { noiseSeed: newSeed() }];
  const seeds = [one, other].flatMap((secrets) =>
    ['SETUP_PHASE', 'EXECUTION_PHASE'].map((stage) => Buffer.from(stageSeed(secrets, stage)).toString('hex')),
  );
  expect(new Set(seeds).size).toBe(4);
  expect(Buffer.from(stageSeed(one, 'SETUP_PHASE')).toString('hex')).toBe(seeds[0]);
});
