/**
 * Combines the registers with the same index into a tuple of three flags and a count. The first flag is zero if all
 * keys are equal. The second is zero if all keys are the key of a destroyed register. The third is zero if all keys are
 * the key of histogram noise. The count is the sum of all counts, and is used only if the keys are equal.
 *
 * The aggregator makes the tuples and knows every factor that it used, so a nonzero flag would reveal a key to the
 * aggregator. Each worker therefore multiplies each flag by a separate random number. Zero remains zero, and any other
 * flag becomes random.
 */
import type { RandomSource } from '../../privacy/random.ts';
import {
  CIPHERTEXT_BYTES,
  DESTROYED_KEY,
  drawScalars,
  type ElGamalPublicKey,
  Keystream,
  POINT_BYTES,
} from '../../sketches.ts';
import { type Bytes, putBlocks, putColumn, runs, sortedOrder, takeBlocks, takeColumn } from './blocks.ts';
import type { RingKeys } from './ringKeys.ts';
import { ALONE, type Batch, type Column, type Workspace } from './workspace.ts';

export const FLAGS = 3;
export const FLAGS_BYTES = FLAGS * CIPHERTEXT_BYTES;
export const TUPLE_BYTES = FLAGS_BYTES + CIPHERTEXT_BYTES;
export const COUNT: Column = { stride: TUPLE_BYTES, at: FLAGS_BYTES };

export const HISTOGRAM_KEY = 'blinded_histogram_noise_register_key';

/** The size of a group's member: a register's blinded index, followed by the ciphertexts of its key and count. */
export const MEMBER_BYTES = POINT_BYTES + 2 * CIPHERTEXT_BYTES;

/**
 * Groups registers by index. An index with more registers than providers must be noise, so its registers are omitted.
 */
export function groupMembers(
  _: Workspace,
  { parts, dataProviderCount }: { parts: Uint8Array[]; dataProviderCount: number },
): { members: Bytes; sizes: Uint32Array<ArrayBuffer> } {
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
  const grouped = takeBlocks(members, MEMBER_BYTES, order.subarray(0, kept));
  return { members: grouped, sizes: sizes.slice(0, groups) };
}

/** Combines each group of registers into a tuple, encrypted under the combined key of all duchies. */
export function makeTuples(
  workspace: Workspace,
  { blocks: members, sizes, seed, key }: Batch & { sizes: Uint32Array; key: Uint8Array },
): Bytes {
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
  const sums = takeBlocks(counts, CIPHERTEXT_BYTES, heads);
  const publicKey = workspace.key(key);
  workspace.change(sums, ALONE, sums, (batch, count) =>
    batch.reRandomize(publicKey, drawScalars(random, count)),
  );
  const zeros = workspace.encryptZeros(groups.length, publicKey, random);
  const same = Uint8Array.from(zeros);
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  for (let rank = 1; rank < largest; rank++) {
    const larger = [...groups.keys()].filter((group) => groups[group]!.size > rank);
    const others = larger.map((group) => groups[group]!.start + rank);
    const differences = takeBlocks(zeros, CIPHERTEXT_BYTES, larger);
    addColumn(workspace, differences, takeBlocks(keys, CIPHERTEXT_BYTES, others));
    addColumn(workspace, differences, takeBlocks(headKeys, CIPHERTEXT_BYTES, larger), -1);
    workspace.change(differences, ALONE, differences, (batch, count) =>
      batch.multiplyEach(drawScalars(random, count)),
    );
    addAt(workspace, same, larger, differences);
    addAt(workspace, sums, larger, takeBlocks(counts, CIPHERTEXT_BYTES, others));
  }
  return finished(workspace, { same, keys: headKeys, sums }, publicKey, random);
}

/**
 * Computes into[i] += sign · added[i]. `into` must be fresh random ciphertexts. Otherwise a dishonest worker could
 * choose two ciphertexts that cancel out, and the resulting error would reveal that both are in the same group.
 */
function addColumn(workspace: Workspace, into: Uint8Array, added: Uint8Array, sign: 1 | -1 = 1): void {
  workspace.change(into, ALONE, into, (batch, count, from) => {
    workspace.other.load(added, count, { at: from * CIPHERTEXT_BYTES });
    batch.add(workspace.other, sign);
  });
}

function addAt(workspace: Workspace, into: Uint8Array, places: readonly number[], added: Uint8Array): void {
  const sums = takeBlocks(into, CIPHERTEXT_BYTES, places);
  addColumn(workspace, sums, added);
  putBlocks(sums, CIPHERTEXT_BYTES, places, into);
}

/**
 * Adds the second flag, the third flag, and the counts to the tuples. `same` is the first flag, which is zero if all
 * keys of the group are equal. `key` is the first key of the group. `special` is the key of destroyed registers for the
 * second flag, and the key of histogram noise for the third flag. The second and third flags are computed as same +
 * special − key. Such a flag is zero if all keys of the group are equal to `special`.
 */
function finished(
  workspace: Workspace,
  { same, keys, sums }: Record<'same' | 'keys' | 'sums', Uint8Array>,
  publicKey: ElGamalPublicKey,
  random: RandomSource,
): Bytes {
  const tuples = new Uint8Array((same.length / CIPHERTEXT_BYTES) * TUPLE_BYTES);
  putColumn(same, CIPHERTEXT_BYTES, tuples, TUPLE_BYTES, 0);
  const special = Buffer.concat(workspace.points([DESTROYED_KEY, HISTOGRAM_KEY]));
  for (const i of [0, 1]) {
    const flags = Uint8Array.from(same);
    addColumn(workspace, flags, keys, -1);
    workspace.change(flags, ALONE, flags, (batch, count) => {
      batch.addPoints(special, 1, { stride: 0, at: i * POINT_BYTES });
      // Re-randomize, because subtracting two flags would otherwise produce the ciphertext of a key, which a worker may
      // recognize.
      batch.reRandomize(publicKey, drawScalars(random, count));
    });
    putColumn(flags, CIPHERTEXT_BYTES, tuples, TUPLE_BYTES, (i + 1) * CIPHERTEXT_BYTES);
  }
  putColumn(sums, CIPHERTEXT_BYTES, tuples, TUPLE_BYTES, COUNT.at);
  return tuples;
}

/**
 * Removes a duchy's encryption from the flags, multiplies each flag by a separate random number, and re-randomizes
 * flags and counts.
 */
export function decryptTupleFlags(
  workspace: Workspace,
  { blocks: tuples, seed, keys }: Batch & { keys: RingKeys },
): Bytes {
  const random = new Keystream(seed);
  const key = workspace.key(keys.key);
  const flags = takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES);
  workspace.blindEach(flags, keys, random);
  const decrypted = new Uint8Array(tuples.length);
  putColumn(flags, FLAGS_BYTES, decrypted, TUPLE_BYTES, 0);
  workspace.change(tuples, COUNT, decrypted, (batch, count) =>
    batch.reRandomize(key, drawScalars(random, count)),
  );
  return decrypted;
}
