/** What compares the counts of tuples with each frequency below the maximum, and how often they were equal. */
import {
  CIPHERTEXT_BYTES,
  drawScalars,
  Keystream,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { takeBlocks, takeColumn } from './blocks.ts';
import { COUNT, FLAGS, FLAGS_BYTES, TUPLE_BYTES } from './tuples.ts';
import { ALONE, type Workspace } from './workspace.ts';

/** Flags are under one key alone: how many tuples are noise of the histogram, and comparisons of those with a frequency. */
export function compareTuples(
  workspace: Workspace,
  {
    blocks: tuples,
    seed,
    secretKey,
    maximumFrequency,
  }: { blocks: Uint8Array; seed: Uint8Array; secretKey: Uint8Array; maximumFrequency: number },
): { histogramCount: number; comparisons: Uint8Array<ArrayBuffer> } {
  const isZero = workspace.zeros(takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES), secretKey);
  const withFrequency: number[] = [];
  let histogramCount = 0;
  for (let i = 0; i < tuples.length / TUPLE_BYTES; i++) {
    const [same, destroyed, histogram] = isZero.subarray(FLAGS * i, FLAGS * (i + 1));
    if (histogram === 1) histogramCount++;
    else if (same === 1 && destroyed === 0) withFrequency.push(i);
  }
  const counts = takeBlocks(
    takeColumn(tuples, TUPLE_BYTES, COUNT.at, CIPHERTEXT_BYTES),
    CIPHERTEXT_BYTES,
    withFrequency,
  );
  return { histogramCount, comparisons: compare(workspace, counts, maximumFrequency - 1, seed) };
}

/** For each count r (count − i · unit), for i from 1 to `compared`: zero where the count is i. */
function compare(
  workspace: Workspace,
  counts: Uint8Array,
  compared: number,
  seed: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const total = (counts.length / CIPHERTEXT_BYTES) * compared;
  const places = Uint32Array.from({ length: total }, (_, i) => Math.floor(i / compared));
  const points = workspace.counts(compared);
  const comparisons = takeBlocks(counts, CIPHERTEXT_BYTES, places);
  const units = Buffer.concat(Array.from({ length: total }, (_, i) => points[i % compared]!));
  workspace.change(comparisons, ALONE, comparisons, (batch, count, from) => {
    batch.addPoints(units, -1, { at: from * POINT_BYTES });
    batch.multiplyEach(drawScalars(random, count));
  });
  return comparisons;
}

export function decryptComparisons(
  workspace: Workspace,
  { blocks: comparisons, secretKey }: { blocks: Uint8Array; secretKey: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const decrypted = new Uint8Array(comparisons.length);
  workspace.change(comparisons, ALONE, decrypted, (batch) => batch.decrypt(secretKey));
  return decrypted;
}

/** Under one key alone: how many counts are 1, 2 …; the last are those that were equal to none. */
export function countEqual(
  workspace: Workspace,
  {
    blocks: comparisons,
    secretKey,
    maximumFrequency,
  }: { blocks: Uint8Array; secretKey: Uint8Array; maximumFrequency: number },
): Uint32Array<ArrayBuffer> {
  const compared = maximumFrequency - 1;
  const isZero = workspace.zeros(comparisons, secretKey);
  const frequencies = new Uint32Array(maximumFrequency);
  for (let from = 0; from < isZero.length; from += compared) {
    const first = isZero.subarray(from, from + compared).indexOf(1);
    frequencies[first < 0 ? compared : first]!++;
  }
  return frequencies;
}
