/**
 * The aggregator's part of the protocol. The aggregator adds both workers' values and counts how often each sum occurs.
 * estimate.ts computes the result from these counts.
 */
import { readValues } from '../../shares/framing.ts';
import { MAX_MODULUS } from '../../shares/ring.ts';
import { type ShareShuffleParameters, shuffledCount } from './limits.ts';

export class ShareShuffleError extends Error {
  override name = 'ShareShuffleError';
}

/**
 * Adds the values of two `AggregationPhaseInput` messages register by register. Returns how often each value of the
 * ring occurs among the sums.
 */
export async function countValues(
  parameters: ShareShuffleParameters,
  inputs: readonly [AsyncIterable<Uint8Array>, AsyncIterable<Uint8Array>],
): Promise<Float64Array> {
  const one = new Uint8Array(shuffledCount(parameters));
  await readInput(parameters, inputs[0], (at, values) => one.set(values, at));
  // Count pairs of values instead of sums. Most sums are zero, and each increment of a single counter for zero would
  // have to wait for the previous increment.
  const pairs = new Uint32Array(MAX_MODULUS * MAX_MODULUS);
  await readInput(parameters, inputs[1], (at, values) => countPairs(pairs, one, at, values));
  return sums(parameters.modulus, pairs);
}

async function readInput(
  parameters: ShareShuffleParameters,
  input: AsyncIterable<Uint8Array>,
  use: (at: number, values: Uint8Array) => void,
): Promise<void> {
  const expected = shuffledCount(parameters);
  const { count, registerCount } = await readValues(parameters.modulus, expected, input, use);
  if (count === expected && registerCount === parameters.registerCount) return;
  throw new ShareShuffleError(
    `a worker sent ${count} values for ${registerCount} registers, ` +
      `and ${expected} for ${parameters.registerCount} were expected`,
  );
}

function countPairs(pairs: Uint32Array, one: Uint8Array, at: number, other: Uint8Array): void {
  for (let i = 0; i < other.length; i++) pairs[one[at + i]! * MAX_MODULUS + other[i]!]!++;
}

function sums(modulus: number, pairs: Uint32Array): Float64Array {
  const counts = new Float64Array(modulus);
  for (let a = 0; a < modulus; a++) {
    for (let b = 0; b < modulus; b++) {
      counts[a + b < modulus ? a + b : a + b - modulus]! += pairs[a * MAX_MODULUS + b]!;
    }
  }
  return counts;
}
