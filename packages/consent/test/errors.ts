import { ConsentError, type ConsentErrorCode } from '@measurement-exchange/consent';
import { expect } from 'vitest';

/** Returns the code of the ConsentError that `run` throws or rejects with. Any other outcome fails the test. */
export async function faultOf(run: () => unknown): Promise<ConsentErrorCode> {
  return (await errorOf(run)).code;
}

export async function errorOf(run: () => unknown): Promise<ConsentError> {
  const error = await Promise.resolve()
    .then(run)
    .then(
      () => expect.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );
  if (!(error instanceof ConsentError)) throw error;
  return error;
}

export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}
