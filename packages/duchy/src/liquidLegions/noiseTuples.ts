/** Tuples that no register is behind: they look like registers of each frequency, or like such without one. */
import type { RandomSource } from '@measurement-exchange/sdk';
import {
  CIPHERTEXT_BYTES,
  countPoints,
  drawMpcNoise,
  type ElGamalPublicKey,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { putColumn, takeBlocks } from './blocks.ts';
import type { FrequencyParameters } from './frequencyParameters.ts';
import { randomText } from './noiseRegisters.ts';
import { COUNT, FLAGS_BYTES, TUPLE_BYTES } from './tuples.ts';
import { ALONE, type Workspace } from './workspace.ts';

/** What is encrypted: nothing, something random, or a count from 1 on. */
type Value = 'zero' | 'random' | number;

export interface NoiseTuple {
  flags: readonly [same: Value, destroyed: Value, histogram: Value];
  count: Value;
}

/** As many as `noiseTupleCount`. */
export function drawNoiseTuples(parameters: FrequencyParameters, random: RandomSource): NoiseTuple[] {
  const { maximumFrequency, frequencyNoise, noiseTupleCount } = parameters;
  const tuples: NoiseTuple[] = [];
  const add = (tuple: NoiseTuple, times: number) => {
    for (let i = 0; i < times; i++) tuples.push(tuple);
  };
  for (let count = 1; count <= maximumFrequency; count++) {
    add({ flags: ['zero', 'random', 'random'], count }, drawMpcNoise(frequencyNoise, random));
  }
  add({ flags: ['random', 'random', 'random'], count: 'random' }, drawMpcNoise(frequencyNoise, random));
  add({ flags: ['zero', 'zero', 'random'], count: 'random' }, noiseTupleCount - tuples.length);
  return tuples;
}

/** Flags are encrypted under the keys that are still on the flags of other tuples, counts under those of all duchies. */
export function encryptNoiseTuples(
  workspace: Workspace,
  tuples: readonly NoiseTuple[],
  { key, restKey }: { key: ElGamalPublicKey; restKey: ElGamalPublicKey },
  random: RandomSource,
): Uint8Array<ArrayBuffer> {
  const encrypted = new Uint8Array(tuples.length * TUPLE_BYTES);
  const flags = encryptValues(
    workspace,
    tuples.flatMap((tuple) => tuple.flags),
    restKey,
    random,
  );
  const counts = encryptValues(
    workspace,
    tuples.map(({ count }) => count),
    key,
    random,
  );
  putColumn(flags, FLAGS_BYTES, encrypted, TUPLE_BYTES, 0);
  putColumn(counts, CIPHERTEXT_BYTES, encrypted, TUPLE_BYTES, COUNT.at);
  return encrypted;
}

function encryptValues(
  workspace: Workspace,
  values: readonly Value[],
  key: ElGamalPublicKey,
  random: RandomSource,
): Uint8Array<ArrayBuffer> {
  const ciphertexts = workspace.encryptZeros(values.length, key, random);
  const most = values.reduce<number>(
    (max, value) => (typeof value === 'number' ? Math.max(max, value) : max),
    0,
  );
  const counts = countPoints(workspace.curve, most);
  const others = [...values.keys()].filter((i) => values[i] !== 'zero');
  const randoms = workspace.points(others.map(() => randomText('random_count', random)));
  const added = takeBlocks(ciphertexts, CIPHERTEXT_BYTES, others);
  const points = others.map((place, i) => {
    const value = values[place]!;
    return typeof value === 'number'
      ? takeBlocks(counts, POINT_BYTES, [value - 1])
      : takeBlocks(randoms, POINT_BYTES, [i]);
  });
  const messages = Buffer.concat(points);
  workspace.change(added, ALONE, added, (batch, _count, from) =>
    batch.addPoints(messages, 1, { at: from * POINT_BYTES }),
  );
  others.forEach((place, i) => {
    ciphertexts.set(takeBlocks(added, CIPHERTEXT_BYTES, [i]), place * CIPHERTEXT_BYTES);
  });
  return ciphertexts;
}
