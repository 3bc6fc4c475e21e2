/**
 * The aggregator adds up the values that the workers sent, and counts them. `estimate.ts` turns the counts into
 * figures.
 */
import { MAX_MODULUS, ValuesReader } from '../../shares.ts';
import { type ShareShuffleParameters, shuffledCount } from './limits.ts';

/** A bug or a lie: a worker sent a message of another form than the protocol's. */
export class ShareShuffleError extends Error {
  override name = 'ShareShuffleError';
}

/**
 * How often each value of the ring is in the sum of two `AggregationPhaseInput` messages, in chunks of any size. One of them
 * is held in memory.
 */
export async function countValues(
  parameters: ShareShuffleParameters,
  inputs: readonly [AsyncIterable<Uint8Array>, AsyncIterable<Uint8Array>],
): Promise<Float64Array> {
  const one = new Uint8Array(shuffledCount(parameters));
  await readInput(parameters, inputs[0], (at, values) => one.set(values, at));
  // Counts pairs of values, because most pairs are rare: with one counter for all zeros, each increment would wait
  // for the one before.
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
  const reader = new ValuesReader(parameters.modulus, expected);
  let at = 0;
  for await (const chunk of input) {
    const values = reader.push(chunk);
    use(at, values);
    at += values.length;
  }
  const { count, registerCount } = reader.end();
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
