/**
 * What becomes of the registers of one index: a tuple of three flags and a count. The flags are zero where all keys are the
 * same, where all are that of a destroyed register, and where all are that of the histogram's noise; else they are random.
 * The count is the sum of all counts where the keys are the same, and else random.
 */
import type { RandomSource } from '@measurement-exchange/sdk';
import {
  CIPHERTEXT_BYTES,
  DESTROYED_KEY,
  drawScalars,
  Keystream,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { putColumn, runs, sortedOrder, takeBlocks, takeColumn } from './blocks.ts';
import type { RingKeys } from './ringKeys.ts';
import { ALONE, type Column, type Workspace } from './workspace.ts';

export const FLAGS = 3;
export const FLAGS_BYTES = FLAGS * CIPHERTEXT_BYTES;
export const TUPLE_BYTES = FLAGS_BYTES + CIPHERTEXT_BYTES;
export const COUNT: Column = { stride: TUPLE_BYTES, at: FLAGS_BYTES };

/** The key of the histogram's noise registers. */
export const HISTOGRAM_KEY = 'blinded_histogram_noise_register_key';

/** A register by its blinded index: that, then the ciphertexts of key and count. */
export const MEMBER_BYTES = POINT_BYTES + 2 * CIPHERTEXT_BYTES;

/** Registers of the same index, one group after the other; without indexes that more registers have than there are sketches. */
export function groupMembers(
  _: Workspace,
  { parts, dataProviderCount }: { parts: Uint8Array[]; dataProviderCount: number },
): { members: Uint8Array<ArrayBuffer>; sizes: Uint32Array<ArrayBuffer> } {
  const members = Buffer.concat(parts);
  const order = sortedOrder(members, MEMBER_BYTES);
  const starts = runs(members, MEMBER_BYTES, POINT_BYTES, order);
  const sizes = new Uint32Array(starts.length - 1);
  let [groups, kept] = [0, 0];
  for (let i = 0; i < sizes.length; i++) {
    const [start, end] = [starts[i]!, starts[i + 1]!];
    if (end - start > dataProviderCount) continue;
    order.copyWithin(kept, start, end);
    kept += end - start;
    sizes[groups++] = end - start;
  }
  return {
    members: takeBlocks(members, MEMBER_BYTES, order.subarray(0, kept)),
    sizes: sizes.slice(0, groups),
  };
}

/** The tuples of some groups, under the combined key of all duchies. */
export function makeTuples(
  workspace: Workspace,
  {
    blocks: members,
    sizes,
    seed,
    key,
  }: { blocks: Uint8Array; sizes: Uint32Array; seed: Uint8Array; key: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const keys = takeColumn(members, MEMBER_BYTES, POINT_BYTES, CIPHERTEXT_BYTES);
  const counts = takeColumn(members, MEMBER_BYTES, POINT_BYTES + CIPHERTEXT_BYTES, CIPHERTEXT_BYTES);
  let start = 0;
  const groups = Array.from(sizes, (size) => {
    start += size;
    return { start: start - size, size };
  });
  const heads = groups.map((group) => group.start);
  const headKeys = takeBlocks(keys, CIPHERTEXT_BYTES, heads);
  const same = workspace.encryptZeros(groups.length, workspace.key(key), random);
  const sums = takeBlocks(counts, CIPHERTEXT_BYTES, heads);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  for (let rank = 1; rank < largest; rank++) {
    const larger = [...groups.keys()].filter((group) => groups[group]!.size > rank);
    const others = larger.map((group) => groups[group]!.start + rank);
    const differences = subtracted(
      workspace,
      takeBlocks(keys, CIPHERTEXT_BYTES, others),
      takeBlocks(headKeys, CIPHERTEXT_BYTES, larger),
      random,
    );
    addAt(workspace, same, larger, differences);
    addAt(workspace, sums, larger, takeBlocks(counts, CIPHERTEXT_BYTES, others));
  }
  return finished(workspace, same, headKeys, sums, random);
}

/** r (a − b). */
function subtracted(workspace: Workspace, a: Uint8Array, b: Uint8Array, random: RandomSource): Uint8Array {
  const differences = new Uint8Array(a.length);
  workspace.change(a, ALONE, differences, (batch, count, from) => {
    workspace.other.load(b, count, { at: from * CIPHERTEXT_BYTES });
    batch.add(workspace.other, -1);
    batch.multiplyEach(drawScalars(random, count));
  });
  return differences;
}

/** into[places[i]] += added[i]. */
function addAt(workspace: Workspace, into: Uint8Array, places: readonly number[], added: Uint8Array): void {
  const sums = new Uint8Array(added.length);
  workspace.change(added, ALONE, sums, (batch, count, from) => {
    workspace.other.load(takeBlocks(into, CIPHERTEXT_BYTES, places.slice(from, from + count)), count);
    batch.add(workspace.other);
  });
  places.forEach((place, i) => {
    into.set(sums.subarray(i * CIPHERTEXT_BYTES, (i + 1) * CIPHERTEXT_BYTES), place * CIPHERTEXT_BYTES);
  });
}

/** The other flags, r (special key + same − key), and the count, sum + r · same. */
function finished(
  workspace: Workspace,
  same: Uint8Array,
  keys: Uint8Array,
  sums: Uint8Array,
  random: RandomSource,
): Uint8Array<ArrayBuffer> {
  const { other } = workspace;
  const special = Buffer.concat(workspace.points([DESTROYED_KEY, HISTOGRAM_KEY]));
  const randomized = Buffer.concat([same, same, same]);
  for (const i of [0, 1]) {
    const flags = randomized.subarray(i * same.length, (i + 1) * same.length);
    workspace.change(flags, ALONE, flags, (batch, count, from) => {
      other.load(keys, count, { at: from * CIPHERTEXT_BYTES });
      batch.add(other, -1);
      batch.addPoints(special, 1, { stride: 0, at: i * POINT_BYTES });
    });
  }
  workspace.change(randomized, ALONE, randomized, (batch, count) =>
    batch.multiplyEach(drawScalars(random, count)),
  );
  const counts = randomized.subarray(2 * same.length);
  workspace.change(counts, ALONE, counts, (batch, count, from) => {
    other.load(sums, count, { at: from * CIPHERTEXT_BYTES });
    batch.add(other);
  });
  const tuples = new Uint8Array((same.length / CIPHERTEXT_BYTES) * TUPLE_BYTES);
  putColumn(same, CIPHERTEXT_BYTES, tuples, TUPLE_BYTES, 0);
  for (const i of [0, 1, 2]) {
    const column = randomized.subarray(i * same.length, (i + 1) * same.length);
    putColumn(column, CIPHERTEXT_BYTES, tuples, TUPLE_BYTES, (i + 1) * CIPHERTEXT_BYTES);
  }
  return tuples;
}

/** Takes a key off the flags, and re-randomizes flags and counts. */
export function decryptTupleFlags(
  workspace: Workspace,
  { blocks: tuples, seed, keys }: { blocks: Uint8Array; seed: Uint8Array; keys: RingKeys },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const [key, restKey] = [workspace.key(keys.key), workspace.key(keys.restKey)];
  const flags = takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES);
  workspace.change(flags, ALONE, flags, (batch, count) => {
    batch.decrypt(keys.secretKey);
    batch.reRandomize(restKey, drawScalars(random, count));
  });
  const decrypted = new Uint8Array(tuples.length);
  putColumn(flags, FLAGS_BYTES, decrypted, TUPLE_BYTES, 0);
  workspace.change(tuples, COUNT, decrypted, (batch, count) =>
    batch.reRandomize(key, drawScalars(random, count)),
  );
  return decrypted;
}
