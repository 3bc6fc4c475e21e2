/** Batches of registers: one ciphertext each, that of the index, or three, of index, key and count. */
import { CIPHERTEXT_BYTES, DESTROYED_KEY, drawScalars, Keystream, POINT_BYTES } from '../sketches.ts';
import { putColumn, runs, sortedOrder, takeColumn } from './blocks.ts';
import { indexText, type NoiseKind, readNoiseRegisters } from './noiseRegisters.ts';
import type { RingKeys } from './ringKeys.ts';
import { HISTOGRAM_KEY } from './tuples.ts';
import { ALONE, type Plain, type Workspace } from './workspace.ts';

/** Noise registers, encrypted: with key and count, or only their indexes. */
export function encryptNoiseRegisters(
  workspace: Workspace,
  { blocks, seed, key, isFull }: { blocks: Uint8Array; seed: Uint8Array; key: Uint8Array; isFull: boolean },
): Uint8Array<ArrayBuffer> {
  const registers = readNoiseRegisters(blocks);
  const indexes = workspace.points(registers.map(({ kind, number }) => indexText(kind, number)));
  const [histogram, destroyed] = workspace.points([HISTOGRAM_KEY, DESTROYED_KEY]);
  const keys: { [K in NoiseKind]?: Plain } = { histogram: histogram!, reach: destroyed! };
  const texts = registers.flatMap(({ kind }, i): Plain[] =>
    // A count of noise is never looked at.
    isFull ? [indexes[i]!, keys[kind] ?? 'random', 'random'] : [indexes[i]!],
  );
  return workspace.encrypt(texts, workspace.key(key), new Keystream(seed));
}

/** The same registers, in which whoever sent or encrypted them recognizes nothing. */
export function reRandomizeRegisters(
  workspace: Workspace,
  { blocks, seed, key }: { blocks: Uint8Array; seed: Uint8Array; key: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const publicKey = workspace.key(key);
  const registers = new Uint8Array(blocks.length);
  workspace.change(blocks, ALONE, registers, (batch, count) =>
    batch.reRandomize(publicKey, drawScalars(random, count)),
  );
  return registers;
}

/** Takes a key off the indexes, multiplies them by `blinding`, and re-randomizes everything. */
export function blindRegisters(
  workspace: Workspace,
  {
    blocks,
    size,
    seed,
    keys,
    blinding,
  }: { blocks: Uint8Array; size: number; seed: Uint8Array; keys: RingKeys; blinding: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const restKey = workspace.key(keys.restKey);
  const blinded = new Uint8Array(blocks.length);
  workspace.change(blocks, { stride: size, at: 0 }, blinded, (batch, count) => {
    batch.blind(keys.secretKey, blinding);
    // Else ciphertexts that somebody made multiples of each other would stay so, and could be followed.
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

/** Registers whose indexes are under one key alone: with the points of these instead of their ciphertexts. */
export function openIndexes(
  workspace: Workspace,
  { blocks, size, secretKey }: { blocks: Uint8Array; size: number; secretKey: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const points = workspace.decrypt(blocks, { stride: size, at: 0 }, secretKey);
  const others = size - CIPHERTEXT_BYTES;
  if (others === 0) return points;
  const opened = new Uint8Array((blocks.length / size) * (POINT_BYTES + others));
  putColumn(points, POINT_BYTES, opened, POINT_BYTES + others, 0);
  const rest = takeColumn(blocks, size, CIPHERTEXT_BYTES, others);
  putColumn(rest, others, opened, POINT_BYTES + others, POINT_BYTES);
  return opened;
}

/** How many different points there are. */
export function countDistinct(_: Workspace, { parts }: { parts: Uint8Array[] }): number {
  const points = Buffer.concat(parts);
  return runs(points, POINT_BYTES, POINT_BYTES, sortedOrder(points, POINT_BYTES)).length - 1;
}

/** A number, encrypted so that such add up. */
export function encryptCount(
  workspace: Workspace,
  { count, key, seed }: { count: number; key: Uint8Array; seed: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const text = count === 0 ? 'zero' : workspace.counts(count)[count - 1]!;
  return workspace.encrypt([text], workspace.key(key), random);
}

/** The sum of what is encrypted in all of them, in a ciphertext that none of those who sent one recognizes. */
export function addCounts(
  workspace: Workspace,
  { counts, key, seed }: { counts: Uint8Array[]; key: Uint8Array; seed: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const sum = workspace.encryptZeros(1, workspace.key(key), new Keystream(seed));
  for (const next of counts) {
    workspace.other.load(next, 1);
    workspace.change(sum, ALONE, sum, (batch) => batch.add(workspace.other));
  }
  return sum;
}

/**
 * The number in a ciphertext that is under one key alone, if it is from 0 to `most`; else `expected`. A worker can put a
 * register of a provider in there: the outcome must not tell it which register that is.
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

/** Takes a key off such a ciphertext, and re-randomizes it under the rest. */
export function passCount(
  workspace: Workspace,
  { count, keys, seed }: { count: Uint8Array; keys: RingKeys; seed: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const left = new Uint8Array(count.length);
  workspace.change(count, ALONE, left, (batch) => {
    batch.decrypt(keys.secretKey);
    batch.reRandomize(workspace.key(keys.restKey), drawScalars(new Keystream(seed), 1));
  });
  return left;
}

/** Throws where one of them is no compressed point of the curve. */
export function checkPoints(workspace: Workspace, { blocks }: { blocks: Uint8Array }): void {
  const { curve } = workspace;
  workspace.inBatches(blocks.length / POINT_BYTES, (from, count) =>
    curve.load(curve.spare[0], blocks, count, POINT_BYTES, from * POINT_BYTES),
  );
}
