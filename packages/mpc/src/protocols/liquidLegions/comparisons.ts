/**
 * Compares the encrypted count of each tuple with each frequency below the maximum. All comparisons with one frequency
 * form a column. The stages sort each column separately, so that nobody can link two comparisons of the same count.
 */
import { CIPHERTEXT_BYTES, drawScalars, Keystream, POINT_BYTES } from '../../sketches.ts';
import { type Bytes, takeBlocks, takeColumn } from './blocks.ts';
import type { RingKeys } from './ringKeys.ts';
import { COUNT, FLAGS, FLAGS_BYTES, TUPLE_BYTES } from './tuples.ts';
import { ALONE, type Batch, type Workspace } from './workspace.ts';

/**
 * Reads each tuple's flags, which must be encrypted under this duchy's key alone. Counts the tuples that are histogram
 * noise. Any other tuple has a frequency if its keys are equal and are not the key of destroyed registers. For each
 * tuple with a frequency, compares the tuple's count with each frequency below the maximum.
 */
export function compareTuples(
  workspace: Workspace,
  { blocks: tuples, seed, keys, maximumFrequency }: Batch & { keys: RingKeys; maximumFrequency: number },
): { histogramCount: number; comparisons: Bytes } {
  const isZero = workspace.zeros(takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES), keys.secretKey);
  const withFrequency: number[] = [];
  let histogramCount = 0;
  for (let i = 0; i < tuples.length / TUPLE_BYTES; i++) {
    const [same, destroyed, histogram] = isZero.subarray(FLAGS * i, FLAGS * (i + 1));
    if (histogram === 1) histogramCount++;
    else if (same === 1 && destroyed === 0) withFrequency.push(i);
  }
  const allCounts = takeColumn(tuples, TUPLE_BYTES, COUNT.at, CIPHERTEXT_BYTES);
  const counts = takeBlocks(allCounts, CIPHERTEXT_BYTES, withFrequency);
  const comparisons = compare(workspace, counts, maximumFrequency - 1, { key: keys.key, seed });
  return { histogramCount, comparisons };
}

/**
 * Computes a column of count − i · unit for each i from 1 to `compared`. The unit is the point for the count 1, so an
 * entry encrypts zero if the count is i. The entries are re-randomized, so that workers cannot recognize the
 * ciphertexts.
 */
function compare(
  workspace: Workspace,
  counts: Uint8Array,
  compared: number,
  { key, seed }: { key: Uint8Array; seed: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const publicKey = workspace.key(key);
  const units = Buffer.concat(workspace.counts(compared).slice(0, compared));
  const comparisons = new Uint8Array(compared * counts.length);
  for (let i = 0; i < compared; i++) {
    const column = comparisons.subarray(i * counts.length, (i + 1) * counts.length);
    workspace.change(counts, ALONE, column, (batch, count) => {
      batch.addPoints(units, -1, { stride: 0, at: i * POINT_BYTES });
      batch.reRandomize(publicKey, drawScalars(random, count));
    });
  }
  return comparisons;
}

/**
 * Removes the encryption under this duchy's key from the comparisons, and multiplies each comparison by a random
 * factor. Because of these factors, the aggregator learns only which comparisons are zero.
 */
export function decryptComparisons(
  workspace: Workspace,
  { blocks: comparisons, seed, keys }: Batch & { keys: RingKeys },
): Bytes {
  const decrypted = Uint8Array.from(comparisons);
  workspace.blindEach(decrypted, keys, new Keystream(seed));
  return decrypted;
}

export function findZeros(
  workspace: Workspace,
  { blocks, secretKey }: { blocks: Uint8Array; secretKey: Uint8Array },
): Bytes {
  return workspace.zeros(blocks, secretKey);
}
