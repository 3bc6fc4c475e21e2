/** Tuples that no register is behind: they look like registers of each frequency, or like such without one. */
import type { RandomSource } from '@measurement-exchange/sdk';
import {
  CIPHERTEXT_BYTES,
  countPoints,
  drawMpcNoise,
  Keystream,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { putBlocks, putColumn, takeBlocks } from './blocks.ts';
import type { FrequencyParameters } from './frequencyParameters.ts';
import { COUNT, FLAGS_BYTES, TUPLE_BYTES } from './tuples.ts';
import type { Workspace } from './workspace.ts';

/** What a noise tuple looks like: a frequency from 1 on, or one of these. */
const DIFFERENT_KEYS = 0;
const DESTROYED = 255;

/** What is encrypted: nothing, something random, or a count from 1 on. */
type Value = 'zero' | 'random' | number;

/** As many as `noiseTupleCount`, a byte each. The same for the same seed: a repeated stage must not draw other noise. */
export function drawNoiseTuples(
  _: unknown,
  { parameters, seed }: { parameters: FrequencyParameters; seed: Uint8Array },
): Uint8Array<ArrayBuffer> {
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

function valuesOf(what: number): { flags: [same: Value, destroyed: Value, histogram: Value]; count: Value } {
  if (what === DESTROYED) return { flags: ['zero', 'zero', 'random'], count: 'random' };
  if (what === DIFFERENT_KEYS) return { flags: ['random', 'random', 'random'], count: 'random' };
  return { flags: ['zero', 'random', 'random'], count: what };
}

/** Flags are encrypted under the keys that are still on the flags of other tuples, counts under those of all duchies. */
export function encryptNoiseTuples(
  workspace: Workspace,
  {
    blocks,
    seed,
    key,
    restKey,
  }: { blocks: Uint8Array; seed: Uint8Array; key: Uint8Array; restKey: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const random = new Keystream(seed);
  const tuples = Array.from(blocks, valuesOf);
  const flags = tuples.flatMap((tuple) => tuple.flags);
  const counts = tuples.map(({ count }) => count);
  const encrypted = new Uint8Array(tuples.length * TUPLE_BYTES);
  putColumn(encryptValues(workspace, flags, restKey, random), FLAGS_BYTES, encrypted, TUPLE_BYTES, 0);
  putColumn(
    encryptValues(workspace, counts, key, random),
    CIPHERTEXT_BYTES,
    encrypted,
    TUPLE_BYTES,
    COUNT.at,
  );
  return encrypted;
}

function encryptValues(
  workspace: Workspace,
  values: readonly Value[],
  key: Uint8Array,
  random: RandomSource,
): Uint8Array<ArrayBuffer> {
  const ciphertexts = new Uint8Array(values.length * CIPHERTEXT_BYTES);
  const put = (places: number[], encrypted: Uint8Array) =>
    putBlocks(encrypted, CIPHERTEXT_BYTES, places, ciphertexts);
  const placesOf = (isOne: (value: Value) => boolean) =>
    [...values.keys()].filter((place) => isOne(values[place]!));
  const zeros = placesOf((value) => value === 'zero');
  put(zeros, workspace.encryptZeros(zeros.length, workspace.key(key), random));
  const randoms = placesOf((value) => value === 'random');
  put(randoms, workspace.encryptRandom(randoms.length, random));
  const counts = placesOf((value) => typeof value === 'number');
  const places = counts.map((place) => Number(values[place]) - 1);
  const points = countPoints(workspace.curve, Math.max(0, ...places.map((place) => place + 1)));
  put(counts, workspace.encrypt(takeBlocks(points, POINT_BYTES, places), workspace.key(key), random));
  return ciphertexts;
}
