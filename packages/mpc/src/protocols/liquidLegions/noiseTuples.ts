/**
 * Draws and encrypts noise tuples, which represent no person. Each noise tuple looks like a real tuple with some
 * frequency, or like a real tuple without a frequency. A tuple has no frequency if its keys differ, or if they are the
 * key of destroyed registers.
 */

import { CIPHERTEXT_BYTES, drawMpcNoise, Keystream } from '../../sketches.ts';
import { type Bytes, putColumn } from './blocks.ts';
import type { TupleNoise } from './noiseParameters.ts';
import { COUNT, FLAGS_BYTES, TUPLE_BYTES } from './tuples.ts';
import type { Batch, Plain, Workspace } from './workspace.ts';

/**
 * The kinds of noise tuples without a frequency. Any other kind is the frequency that the tuple imitates (1 or more).
 */
const DIFFERENT_KEYS = 0;
const DESTROYED = 255;

/**
 * Draws a kind for each of `noiseTupleCount` tuples, as one byte per tuple. The same seed returns the same kinds, so a
 * repeated stage draws no new noise.
 */
export function drawNoiseTuples(
  _: unknown,
  { parameters, seed }: { parameters: TupleNoise; seed: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const { maximumFrequency, frequencyNoise, noiseTupleCount } = parameters;
  const tuples = new Uint8Array(noiseTupleCount).fill(DESTROYED);
  let at = 0;
  const add = (what: number, times: number) => {
    tuples.fill(what, at, at + times);
    at += times;
  };
  for (let count = 1; count <= maximumFrequency; count++) add(count, drawMpcNoise(frequencyNoise, random));
  add(DIFFERENT_KEYS, drawMpcNoise(frequencyNoise, random));
  return tuples;
}

/**
 * Encrypts noise tuples. The flags are encrypted under `restKey`, like the flags of other tuples at this stage. The
 * counts are encrypted under the combined key of all duchies.
 */
export function encryptNoiseTuples(
  workspace: Workspace,
  { blocks, seed, key, restKey }: Batch & { key: Uint8Array; restKey: Uint8Array },
): Bytes {
  const random = new Keystream(seed);
  const flags = Array.from(blocks, flagsOf).flat();
  const largest = blocks.filter(isCount).reduce((most, what) => Math.max(most, what), 0);
  const points = workspace.counts(largest);
  const counts = Array.from(blocks, (what) => (isCount(what) ? points[what - 1]! : 'random'));
  const encrypted = new Uint8Array(blocks.length * TUPLE_BYTES);
  const encryptedFlags = workspace.encrypt(flags, workspace.key(restKey), random);
  putColumn(encryptedFlags, FLAGS_BYTES, encrypted, TUPLE_BYTES, 0);
  const encryptedCounts = workspace.encrypt(counts, workspace.key(key), random);
  putColumn(encryptedCounts, CIPHERTEXT_BYTES, encrypted, TUPLE_BYTES, COUNT.at);
  return encrypted;
}

function isCount(what: number): boolean {
  return what !== DIFFERENT_KEYS && what !== DESTROYED;
}

function flagsOf(what: number): [same: Plain, destroyed: Plain, histogram: Plain] {
  if (what === DIFFERENT_KEYS) return ['random', 'random', 'random'];
  return ['zero', what === DESTROYED ? 'zero' : 'random', 'random'];
}
