/** Operations on registers. A register is one ciphertext (its index) or three (its index, key, and count). */
import { CIPHERTEXT_BYTES, DESTROYED_KEY, drawScalars, Keystream, POINT_BYTES } from '../../sketches.ts';
import { type Bytes, putColumn, runs, sortedOrder, takeColumn } from './blocks.ts';
import { indexText, type NoiseKind, readNoiseRegisters } from './noiseRegisters.ts';
import type { RingKeys } from './ringKeys.ts';
import { HISTOGRAM_KEY } from './tuples.ts';
import { ALONE, type Batch, type Plain, type Workspace } from './workspace.ts';

/** Encrypts noise registers: their indexes, keys, and counts if `isFull`, otherwise only their indexes. */
export function encryptNoiseRegisters(
  workspace: Workspace,
  { blocks, seed, key, isFull }: Batch & { key: Uint8Array; isFull: boolean },
): Bytes {
  const registers = readNoiseRegisters(blocks);
  const indexes = workspace.points(registers.map(({ kind, number }) => indexText(kind, number)));
  const [histogram, destroyed] = workspace.points([HISTOGRAM_KEY, DESTROYED_KEY]);
  const keys: { [K in NoiseKind]?: Plain } = { histogram: histogram!, reach: destroyed! };
  const texts = registers.flatMap(({ kind }, i): Plain[] =>
    // Use a random count, because nobody reads the count of a noise register.
    isFull ? [indexes[i]!, keys[kind] ?? 'random', 'random'] : [indexes[i]!],
  );
  return workspace.encrypt(texts, workspace.key(key), new Keystream(seed));
}

/** Re-randomizes registers, so that the party that sent or encrypted a register cannot recognize it. */
export function reRandomizeRegisters(
  workspace: Workspace,
  { blocks, seed, key }: Batch & { key: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const publicKey = workspace.key(key);
  const registers = new Uint8Array(blocks.length);
  workspace.change(blocks, ALONE, registers, (batch, count) =>
    batch.reRandomize(publicKey, drawScalars(random, count)),
  );
  return registers;
}

/** Removes a duchy's encryption from the indexes, multiplies them by `blinding`, and re-randomizes all ciphertexts. */
export function blindRegisters(
  workspace: Workspace,
  { blocks, size, seed, keys, blinding }: Batch & { size: number; keys: RingKeys; blinding: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const restKey = workspace.key(keys.restKey);
  const blinded = new Uint8Array(blocks.length);
  workspace.change(blocks, { stride: size, at: 0 }, blinded, (batch, count) => {
    batch.blind(keys.secretKey, blinding);
    // Re-randomize, because a party could otherwise send ciphertexts that are multiples of each other, and recognize
    // them later.
    batch.reRandomize(restKey, drawScalars(random, count));
  });
  const others = size - CIPHERTEXT_BYTES;
  if (others === 0) return blinded;
  const key = workspace.key(keys.key);
  const keysAndCounts = takeColumn(blocks, size, CIPHERTEXT_BYTES, others);
  workspace.change(keysAndCounts, ALONE, keysAndCounts, (batch, count) =>
    batch.reRandomize(key, drawScalars(random, count)),
  );
  putColumn(keysAndCounts, others, blinded, size, CIPHERTEXT_BYTES);
  return blinded;
}

/**
 * Replaces each register's index ciphertext with the decrypted point. The indexes must be encrypted under this key
 * alone.
 */
export function openIndexes(
  workspace: Workspace,
  { blocks, size, secretKey }: { blocks: Uint8Array; size: number; secretKey: Uint8Array },
): Bytes {
  const points = workspace.decrypt(blocks, { stride: size, at: 0 }, secretKey);
  const others = size - CIPHERTEXT_BYTES;
  if (others === 0) return points;
  const opened = new Uint8Array((blocks.length / size) * (POINT_BYTES + others));
  putColumn(points, POINT_BYTES, opened, POINT_BYTES + others, 0);
  const rest = takeColumn(blocks, size, CIPHERTEXT_BYTES, others);
  putColumn(rest, others, opened, POINT_BYTES + others, POINT_BYTES);
  return opened;
}

export function countDistinct(_: Workspace, { parts }: { parts: Uint8Array[] }): number {
  const points = Buffer.concat(parts);
  return runs(points, POINT_BYTES, POINT_BYTES, sortedOrder(points, POINT_BYTES)).length - 1;
}

/** Encrypts a number as a point. Ciphertexts of such points can be added up. */
export function encryptCount(
  workspace: Workspace,
  { count, key, seed }: { count: number; key: Uint8Array; seed: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const text = count === 0 ? 'zero' : workspace.counts(count)[count - 1]!;
  return workspace.encrypt([text], workspace.key(key), random);
}

/** Adds up encrypted numbers. The sum is re-randomized, so that no party can recognize the ciphertext. */
export function addCounts(
  workspace: Workspace,
  { counts, key, seed }: { counts: Uint8Array[]; key: Uint8Array; seed: Uint8Array },
): Bytes {
  const sum = workspace.encryptZeros(1, workspace.key(key), new Keystream(seed));
  for (const next of counts) {
    workspace.other.load(next, 1);
    workspace.change(sum, ALONE, sum, (batch) => batch.add(workspace.other));
  }
  return sum;
}

/**
 * Decrypts a number that is encrypted under this key alone. Returns `expected` if the number is not from 0 to the
 * maximum, `most`. Does not throw in this case: if a worker replaced the ciphertext with a provider's register, an
 * error would tell the worker something about that register.
 */
export function decryptCount(
  workspace: Workspace,
  {
    count,
    secretKey,
    most,
    expected,
  }: { count: Uint8Array; secretKey: Uint8Array; most: number; expected: number },
): number {
  if (workspace.zeros(count, secretKey)[0] === 1) return 0;
  const point = Buffer.from(workspace.decrypt(count, ALONE, secretKey));
  const place = workspace.counts(most).findIndex((one) => point.equals(one));
  return place >= 0 && place < most ? place + 1 : expected;
}

/** Removes a duchy's encryption from a number, and re-randomizes the ciphertext under the remaining duchies' keys. */
export function passCount(
  workspace: Workspace,
  { count, keys, seed }: { count: Uint8Array; keys: RingKeys; seed: Uint8Array },
): Bytes {
  const left = new Uint8Array(count.length);
  workspace.change(count, ALONE, left, (batch) => {
    batch.decrypt(keys.secretKey);
    batch.reRandomize(workspace.key(keys.restKey), drawScalars(new Keystream(seed), 1));
  });
  return left;
}

export function checkPoints(workspace: Workspace, { blocks }: { blocks: Uint8Array }): void {
  const { curve } = workspace;
  workspace.inBatches(blocks.length / POINT_BYTES, (from, count) =>
    curve.load(curve.spare[0], blocks, count, POINT_BYTES, from * POINT_BYTES),
  );
}
