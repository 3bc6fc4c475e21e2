import { newSeed } from '@measurement-exchange/mpc/shares';
import { expect, test } from 'vitest';
import { elGamalKeyPair } from './keys.ts';

test('elGamalKeyPair returns the same key for the same seed, and another key for another seed', () => {
  const secrets = { randomSeed: newSeed() };
  expect(elGamalKeyPair(secrets)).toEqual(elGamalKeyPair(secrets));
  expect(elGamalKeyPair({ randomSeed: newSeed() })).not.toEqual(elGamalKeyPair(secrets));
});
