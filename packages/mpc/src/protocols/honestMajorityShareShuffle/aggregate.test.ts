import { inChunks } from '@measurement-exchange/testkit/mpc/world';
import { describe, expect, test } from 'vitest';
import { registerCountSuffix, valuesPrefix } from '../../shares.ts';
import { countValues, ShareShuffleError } from './aggregate.ts';
import { shareShuffleParameters } from './limits.ts';

const parameters = shareShuffleParameters({
  ringModulus: 5,
  noiseMechanism: 'NONE',
  dataProviderCount: 1,
  registerCount: 6,
  measurementType: 'REACH',
});

function message(values: number[], registerCount = values.length): Uint8Array {
  return Buffer.concat([
    valuesPrefix(values.length),
    Uint8Array.from(values),
    registerCountSuffix(registerCount),
  ]);
}

const count = (one: Uint8Array, other: Uint8Array, size = 100) =>
  countValues(parameters, [inChunks(one, size), inChunks(other, size)]);

describe('countValues', () => {
  const one = message([0, 1, 2, 3, 4, 4]);
  const other = message([0, 4, 4, 4, 4, 2]);

  test('adds the values of two workers modulo the ring, and counts the sums', async () => {
    for (const size of [1, 4, 100]) {
      expect([...(await count(one, other, size))]).toEqual([2, 2, 1, 1, 0]);
      expect([...(await count(other, one, size))]).toEqual([2, 2, 1, 1, 0]);
    }
  });

  test.each<[string, Uint8Array]>([
    ['fewer values', message([0, 1, 2, 3, 4], 6)],
    ['values for another number of registers', message([0, 1, 2, 3, 4, 4], 5)],
    ['no bytes', new Uint8Array(0)],
  ])('rejects %s from one of the workers', async (_, wrong) => {
    await expect(count(wrong, other)).rejects.toThrow(ShareShuffleError);
    await expect(count(one, wrong)).rejects.toThrow(ShareShuffleError);
  });

  test.each<[string, Uint8Array, RegExp]>([
    ['more values', message([0, 1, 2, 3, 4, 4, 0], 6), /at most 6/],
    ['a value outside of the ring', message([0, 1, 2, 3, 4, 5]), /ringModulus/],
  ])('rejects %s from one of the workers', async (_, wrong, reason) => {
    await expect(count(wrong, other)).rejects.toThrow(reason);
    await expect(count(one, wrong)).rejects.toThrow(reason);
  });
});
