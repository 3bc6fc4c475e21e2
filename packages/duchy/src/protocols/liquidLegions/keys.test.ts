import { newSeed } from '@measurement-exchange/mpc/shares';
import { expect, test } from 'vitest';
import { elGamalKeyPair } from './keys.ts';

test('the key of a computation is the same whenever it is needed', () => {
  const secrets = { randomSeed: newSeed() };
  expect(elGamalKeyPair(secrets)).toEqual(elGamalKeyPair(secrets));
  expect(elGamalKeyPair({ randomSeed: newSeed() })).not.toEqual(elGamalKeyPair(secrets));
});
