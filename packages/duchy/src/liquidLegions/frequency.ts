/**
 * Liquid Legions v2, stage by stage, as functions from bytes to bytes. A register is three ciphertexts: index, key, count.
 *
 * Setup: every duchy appends its noise to the sketches it got; the aggregator puts all together. First round: one worker after
 * the other takes its key off the indexes and multiplies them by a secret number; the aggregator then sees which registers
 * are the same, and makes one tuple of each. Second round: workers take their keys off the flags of the tuples, and add
 * noise; the aggregator sees which tuples have a frequency. Third round: workers take their keys off what compares these
 * with every frequency. What a worker sends in the first two rounds is re-randomized and sorted.
 */
import {
  CIPHERTEXT_BYTES,
  countPoints,
  DESTROYED_KEY,
  drawScalars,
  FREQUENCY_REGISTER_BYTES,
  Keystream,
  POINT_BYTES,
} from '@measurement-exchange/sdk/liquidLegions';
import { putColumn, sortBlocks, takeBlocks, takeColumn } from './blocks.ts';
import type { FrequencyParameters } from './frequencyParameters.ts';
import { type NoiseRegister, noiseRegisters, randomText } from './noiseRegisters.ts';
import { drawNoiseTuples, encryptNoiseTuples } from './noiseTuples.ts';
import type { RingKeys } from './ringKeys.ts';
import type { StageRun } from './stageRun.ts';
import { COUNT, FLAGS, FLAGS_BYTES, HISTOGRAM_KEY, TUPLE_BYTES, tuplesOf } from './tuples.ts';
import { ALONE, type Column, checkBlocks, Workspace } from './workspace.ts';

const [INDEX, KEY, REGISTER_COUNT] = [0, 1, 2].map(
  (i): Column => ({ stride: FREQUENCY_REGISTER_BYTES, at: i * CIPHERTEXT_BYTES }),
) as [Column, Column, Column];

export class FrequencyStages {
  private readonly parameters: FrequencyParameters;
  private readonly workspace: Workspace;

  constructor(parameters: FrequencyParameters, workspace = new Workspace()) {
    this.parameters = parameters;
    this.workspace = workspace;
  }

  /** What each duchy does: sketches of providers and noise. */
  async setup(
    sketches: readonly Uint8Array[],
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { workspace } = this;
    const key = workspace.key(keys.key);
    for (const sketch of sketches) checkBlocks(sketch, FREQUENCY_REGISTER_BYTES, 'a sketch');
    const random = new Keystream(seed);
    const { registers } = noiseRegisters(this.parameters, random);
    const noise = new Uint8Array(registers.length * FREQUENCY_REGISTER_BYTES);
    const indexes = workspace.points(registers.map(({ text }) => text));
    const noiseKeys = workspace.points(registers.map((register) => keyText(register, random)));
    workspace.encrypt(indexes, key, random, noise, INDEX);
    workspace.encrypt(noiseKeys, key, random, noise, KEY);
    // Their counts are never looked at.
    workspace.encrypt(noiseKeys, key, random, noise, REGISTER_COUNT);
    return this.combine([...sketches, noise], run);
  }

  /** What the aggregator does then: the messages of all duchies, its own included, as one. */
  async combine(
    messages: readonly Uint8Array[],
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    for (const message of messages) checkBlocks(message, FREQUENCY_REGISTER_BYTES, 'a message');
    onProgress?.(1);
    return sortBlocks(Buffer.concat(messages), FREQUENCY_REGISTER_BYTES);
  }

  /** First round, worker. */
  async blind(
    registers: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    checkBlocks(registers, FREQUENCY_REGISTER_BYTES, 'a message');
    const random = new Keystream(seed);
    const [key, restKey] = this.publicKeys(keys);
    const blinding = drawScalars(random, 1);
    const blinded = new Uint8Array(registers.length);
    this.workspace.change(registers, INDEX, blinded, (batch, count) => {
      batch.decrypt(keys.secretKey);
      batch.multiply(blinding);
      batch.reRandomize(restKey, drawScalars(random, count));
    });
    const others = takeColumn(registers, FREQUENCY_REGISTER_BYTES, KEY.at, 2 * CIPHERTEXT_BYTES);
    this.workspace.change(others, ALONE, others, (batch, count) =>
      batch.reRandomize(key, drawScalars(random, count)),
    );
    putColumn(others, 2 * CIPHERTEXT_BYTES, blinded, FREQUENCY_REGISTER_BYTES, KEY.at);
    onProgress?.(1);
    return sortBlocks(blinded, FREQUENCY_REGISTER_BYTES);
  }

  /** First round, aggregator: registers to tuples. */
  async group(
    registers: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    checkBlocks(registers, FREQUENCY_REGISTER_BYTES, 'a message');
    const random = new Keystream(seed);
    const noise = this.noise(keys, random);
    const ids = this.workspace.decrypt(registers, INDEX, keys.secretKey);
    const tuples = tuplesOf(
      this.workspace,
      this.parameters,
      ids,
      registers,
      this.workspace.key(keys.key),
      random,
    );
    onProgress?.(1);
    return sortBlocks(Buffer.concat([tuples, noise]), TUPLE_BYTES);
  }

  /** Second round, worker. */
  async decryptFlags(
    tuples: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const random = new Keystream(seed);
    const noise = this.noise(keys, random);
    const [key, restKey] = this.publicKeys(keys);
    const flags = takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES);
    this.workspace.change(flags, ALONE, flags, (batch, count) => {
      batch.decrypt(keys.secretKey);
      batch.reRandomize(restKey, drawScalars(random, count));
    });
    const decrypted = new Uint8Array(tuples.length);
    putColumn(flags, FLAGS_BYTES, decrypted, TUPLE_BYTES, 0);
    this.workspace.change(tuples, COUNT, decrypted, (batch, count) =>
      batch.reRandomize(key, drawScalars(random, count)),
    );
    onProgress?.(1);
    return sortBlocks(Buffer.concat([decrypted, noise]), TUPLE_BYTES);
  }

  private noise(keys: RingKeys, random: Keystream): Uint8Array {
    const tuples = drawNoiseTuples(this.parameters, random);
    const [key, restKey] = this.publicKeys(keys);
    return encryptNoiseTuples(this.workspace, tuples, { key, restKey }, random);
  }

  private publicKeys(keys: RingKeys) {
    return [this.workspace.key(keys.key), this.workspace.key(keys.restKey)] as const;
  }

  /**
   * Second round, aggregator: how many registers have somebody, as far as the noise lets it know; and for each register with
   * a frequency what compares its count with 1, 2 … maximumFrequency − 1.
   */
  async countRegisters(
    tuples: Uint8Array,
    { secretKey }: RingKeys,
    seed: Uint8Array,
    { signal, onProgress }: StageRun = {},
  ): Promise<{ registers: number; comparisons: Uint8Array<ArrayBuffer> }> {
    signal?.throwIfAborted();
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const isZero = this.workspace.zeros(takeColumn(tuples, TUPLE_BYTES, 0, FLAGS_BYTES), ALONE, secretKey);
    const total = tuples.length / TUPLE_BYTES;
    const withFrequency: number[] = [];
    let histogramCount = 0;
    for (let i = 0; i < total; i++) {
      const [same, destroyed, histogram] = isZero.subarray(FLAGS * i, FLAGS * (i + 1));
      if (histogram === 1) histogramCount++;
      else if (same === 1 && destroyed === 0) withFrequency.push(i);
    }
    const { duchyCount, reachNoise, noiseTupleCount } = this.parameters;
    const noise = histogramCount + duchyCount * (reachNoise.offset + noiseTupleCount);
    onProgress?.(1);
    return {
      registers: Math.max(0, total - noise),
      comparisons: this.compare(takeBlocks(tuples, TUPLE_BYTES, withFrequency), new Keystream(seed)),
    };
  }

  /** For each tuple r (count − i · unit), for i below the maximum frequency: zero where the count is i. */
  private compare(tuples: Uint8Array, random: Keystream): Uint8Array<ArrayBuffer> {
    const { workspace } = this;
    const compared = this.parameters.maximumFrequency - 1;
    const counts = takeColumn(tuples, TUPLE_BYTES, COUNT.at, CIPHERTEXT_BYTES);
    const total = (counts.length / CIPHERTEXT_BYTES) * compared;
    const places = Uint32Array.from({ length: total }, (_, i) => Math.floor(i / compared));
    const frequencies = Uint32Array.from({ length: total }, (_, i) => i % compared);
    const comparisons = takeBlocks(counts, CIPHERTEXT_BYTES, places);
    const units = takeBlocks(countPoints(workspace.curve, compared), POINT_BYTES, frequencies);
    workspace.change(comparisons, ALONE, comparisons, (batch, count, from) => {
      batch.addPoints(units, -1, { at: from * POINT_BYTES });
      batch.multiplyEach(drawScalars(random, count));
    });
    return comparisons;
  }

  /** Third round, worker. */
  async decryptComparisons(
    comparisons: Uint8Array,
    { secretKey }: RingKeys,
    { signal, onProgress }: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    this.checkComparisons(comparisons);
    const decrypted = new Uint8Array(comparisons.length);
    this.workspace.change(comparisons, ALONE, decrypted, (batch) => batch.decrypt(secretKey));
    onProgress?.(1);
    return decrypted;
  }

  /** Third round, aggregator: registers by frequency, from 1 on; the last are those with the maximum or more. */
  async countFrequencies(
    comparisons: Uint8Array,
    { secretKey }: RingKeys,
    { signal, onProgress }: StageRun = {},
  ): Promise<number[]> {
    signal?.throwIfAborted();
    this.checkComparisons(comparisons);
    const { maximumFrequency, duchyCount, frequencyNoise } = this.parameters;
    const compared = maximumFrequency - 1;
    const isZero = this.workspace.zeros(comparisons, ALONE, secretKey);
    const frequencies: number[] = Array(maximumFrequency).fill(0);
    for (let from = 0; from < isZero.length; from += compared) {
      const first = isZero.subarray(from, from + compared).indexOf(1);
      frequencies[first < 0 ? compared : first]!++;
    }
    onProgress?.(1);
    return frequencies.map((count) => Math.max(0, count - duchyCount * frequencyNoise.offset));
  }

  private checkComparisons(comparisons: Uint8Array): void {
    checkBlocks(comparisons, (this.parameters.maximumFrequency - 1) * CIPHERTEXT_BYTES, 'a message');
  }
}

/** By frequency, the share of the registers that have one; none if no register has. */
export function relativeFrequencies(frequencies: readonly number[]): Map<number, number> {
  const total = frequencies.reduce((sum, count) => sum + count, 0);
  const shares = frequencies.map((count, i) => [i + 1, count / total] as const);
  return new Map(shares.filter(([, share]) => share > 0));
}

/** What the key of a noise register is made from. */
function keyText({ kind }: NoiseRegister, random: Keystream): string {
  if (kind === 'histogram') return HISTOGRAM_KEY;
  return kind === 'reach' ? DESTROYED_KEY : randomText('random_key', random);
}
