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
  drawScalars,
  FREQUENCY_REGISTER_BYTES,
  Keystream,
} from '@measurement-exchange/sdk/liquidLegions';
import { copyOf } from './blocks.ts';
import { checkBlocks } from './errors.ts';
import type { FrequencyParameters } from './frequencyParameters.ts';
import { NOISE_REGISTER_BYTES } from './noiseRegisters.ts';
import { POOL, type Pool } from './pool.ts';
import type { RingKeys } from './ringKeys.ts';
import { type StageRun, StageWork } from './stageWork.ts';
import { MEMBER_BYTES, TUPLE_BYTES } from './tuples.ts';

export class FrequencyStages {
  private readonly parameters: FrequencyParameters;
  private readonly pool: Pool;

  constructor(parameters: FrequencyParameters, pool = POOL) {
    this.parameters = parameters;
    this.pool = pool;
  }

  /** What each duchy does: sketches of providers and noise. */
  async setup(
    sketches: readonly Uint8Array[],
    { key }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    for (const sketch of sketches) checkBlocks(sketch, FREQUENCY_REGISTER_BYTES, 'a sketch');
    const { parameters } = this;
    const work = new StageWork(this.pool, run, seed);
    const { registers } = await work.run('drawNoiseRegisters', { parameters, seed: work.seed('noise') });
    const options = { key, isFull: true };
    const noise = await work.overBlocks('encryptNoiseRegisters', registers, NOISE_REGISTER_BYTES, options);
    const copies = sketches.map((sketch) => copyOf(sketch));
    return work.sort([...copies, ...noise], FREQUENCY_REGISTER_BYTES);
  }

  /** What the aggregator does then: the messages of all duchies, its own included, as one. */
  async combine(messages: readonly Uint8Array[], run: StageRun = {}): Promise<Uint8Array<ArrayBuffer>> {
    for (const message of messages) checkBlocks(message, FREQUENCY_REGISTER_BYTES, 'a message');
    const copies = messages.map((message) => copyOf(message));
    return new StageWork(this.pool, run).sort(copies, FREQUENCY_REGISTER_BYTES);
  }

  /** First round, worker. */
  async blind(
    registers: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const size = FREQUENCY_REGISTER_BYTES;
    checkBlocks(registers, size, 'a message');
    const work = new StageWork(this.pool, run, seed);
    const blinding = drawScalars(new Keystream(work.seed('blinding')), 1);
    return work.sort(
      await work.overBlocks('blindRegisters', registers, size, { size, keys, blinding }),
      size,
    );
  }

  /** First round, aggregator: registers to tuples. */
  async group(
    registers: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const size = FREQUENCY_REGISTER_BYTES;
    checkBlocks(registers, size, 'a message');
    const { secretKey, key } = keys;
    const { dataProviderCount } = this.parameters;
    const work = new StageWork(this.pool, run, seed);
    const opened = await work.upTo(0.2).overBlocks('openIndexes', registers, size, { size, secretKey });
    const { members, sizes } = await work.run('groupMembers', { parts: opened, dataProviderCount }, opened);
    let end = 0;
    const starts = Uint32Array.from([0, ...sizes], (size) => (end += size));
    const tuples = await work.upTo(0.9).inBatches('makeTuples', sizes.length, (from, to) => ({
      blocks: copyOf(members, starts[from]! * MEMBER_BYTES, starts[to]! * MEMBER_BYTES),
      sizes: sizes.slice(from, to),
      key,
    }));
    return work.sort([...tuples, ...(await this.noise(work.upTo(1), keys))], TUPLE_BYTES);
  }

  /** Second round, worker. */
  async decryptFlags(
    tuples: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const work = new StageWork(this.pool, run, seed);
    const decrypted = await work.upTo(0.8).overBlocks('decryptTupleFlags', tuples, TUPLE_BYTES, { keys });
    return work.sort([...decrypted, ...(await this.noise(work.upTo(1), keys))], TUPLE_BYTES);
  }

  private async noise(work: StageWork, { key, restKey }: RingKeys): Promise<Uint8Array<ArrayBuffer>[]> {
    const { parameters } = this;
    const tuples = await work.run('drawNoiseTuples', { parameters, seed: work.seed('noise') });
    return work.overBlocks('encryptNoiseTuples', tuples, 1, { key, restKey });
  }

  /**
   * Second round, aggregator: how many registers have somebody, as far as the noise lets it know; and for each register with
   * a frequency what compares its count with 1, 2 … maximumFrequency − 1.
   */
  async countRegisters(
    tuples: Uint8Array,
    { secretKey }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<{ registers: number; comparisons: Uint8Array }> {
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const { duchyCount, reachNoise, noiseTupleCount, maximumFrequency } = this.parameters;
    const work = new StageWork(this.pool, run, seed);
    const options = { secretKey, maximumFrequency };
    const compared = await work.overBlocks('compareTuples', tuples, TUPLE_BYTES, options);
    const histogramCount = compared.reduce((sum, batch) => sum + batch.histogramCount, 0);
    const noise = histogramCount + duchyCount * (reachNoise.offset + noiseTupleCount);
    return {
      registers: Math.max(0, tuples.length / TUPLE_BYTES - noise),
      comparisons: Buffer.concat(compared.map(({ comparisons }) => comparisons)),
    };
  }

  /** Third round, worker. */
  async decryptComparisons(
    comparisons: Uint8Array,
    { secretKey }: RingKeys,
    run: StageRun = {},
  ): Promise<Uint8Array> {
    const work = new StageWork(this.pool, run);
    const size = this.comparedBytes(comparisons);
    return Buffer.concat(await work.overBlocks('decryptComparisons', comparisons, size, { secretKey }));
  }

  /** Third round, aggregator: registers by frequency, from 1 on; the last are those with the maximum or more. */
  async countFrequencies(
    comparisons: Uint8Array,
    { secretKey }: RingKeys,
    run: StageRun = {},
  ): Promise<number[]> {
    const { maximumFrequency, duchyCount, frequencyNoise } = this.parameters;
    const work = new StageWork(this.pool, run);
    const size = this.comparedBytes(comparisons);
    const options = { secretKey, maximumFrequency };
    const counted = await work.overBlocks('countEqual', comparisons, size, options);
    return Array.from({ length: maximumFrequency }, (_, i) => {
      const count = counted.reduce((sum, batch) => sum + batch[i]!, 0);
      return Math.max(0, count - duchyCount * frequencyNoise.offset);
    });
  }

  /** Of what compares one register. */
  private comparedBytes(comparisons: Uint8Array): number {
    const size = (this.parameters.maximumFrequency - 1) * CIPHERTEXT_BYTES;
    checkBlocks(comparisons, size, 'a message');
    return size;
  }
}

/** By frequency, the share of the registers that have one; none if no register has. */
export function relativeFrequencies(frequencies: readonly number[]): Map<number, number> {
  const total = frequencies.reduce((sum, count) => sum + count, 0);
  const shares = frequencies.map((count, i) => [i + 1, count / total] as const);
  return new Map(shares.filter(([, share]) => share > 0));
}
