/**
 * The stages of Liquid Legions v2, as functions from bytes to bytes. A register is three ciphertexts: index, key, and
 * count.
 *
 * Setup: every duchy appends its noise to the sketches that it received. The aggregator combines and re-randomizes all
 * registers.
 *
 * First round: each worker removes its key from the indexes and multiplies the indexes by a secret number. The
 * aggregator then sees which registers have the same index, combines these registers into one tuple (three flags and a
 * count, see tuples.ts), and adds noise.
 *
 * Second round: each worker removes its key from the tuples' flags, multiplies each flag by a random number, and adds
 * noise. The aggregator then sees which flags are zero. A tuple has a frequency if its keys are equal and are neither
 * the key of destroyed registers nor the key of histogram noise. For each of these tuples, the aggregator compares the
 * count with every frequency below the maximum.
 *
 * Third round: each worker removes its key from the comparisons, and multiplies each comparison by a random number. The
 * aggregator then sees which comparisons are zero.
 *
 * Every message of a round is re-randomized and sorted, so the aggregator cannot link the rounds. The aggregator sees
 * only noisy numbers (docs/privacy.md): how many indexes have k registers, how many registers have a known noise index,
 * how many tuples have each combination of flags, and how many comparisons are zero for each frequency.
 */

import { CIPHERTEXT_BYTES, drawScalars, FREQUENCY_REGISTER_BYTES, Keystream } from '../../sketches.ts';
import { type Bytes, copyOf } from '../liquidLegions/blocks.ts';
import { checkBlocks } from '../liquidLegions/errors.ts';
import type { RingKeys } from '../liquidLegions/ringKeys.ts';
import { RingSetup } from '../liquidLegions/ringSetup.ts';
import { type Executor, type StageRun, StageWork } from '../liquidLegions/stageWork.ts';
import { MEMBER_BYTES, TUPLE_BYTES } from '../liquidLegions/tuples.ts';
import type { MessageSize, Sender } from '../messageSize.ts';
import type { FrequencyParameters } from './limits.ts';

export class FrequencyStages extends RingSetup<FrequencyParameters> {
  constructor(parameters: FrequencyParameters, pool: Executor) {
    super(parameters, pool, { registerBytes: FREQUENCY_REGISTER_BYTES, countsNoise: false });
  }

  /** First round, worker: blinds the indexes of registers. */
  async blind(registers: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}): Promise<Bytes> {
    const size = FREQUENCY_REGISTER_BYTES;
    checkBlocks(registers, size, 'a message');
    const work = new StageWork(this.pool, run, seed);
    const blinding = drawScalars(new Keystream(work.seed('blinding')), 1);
    const blinded = await work.overBlocks('blindRegisters', registers, size, { size, keys, blinding });
    return work.sort(blinded, size);
  }

  /** First round, aggregator: combines registers into tuples, and adds noise. */
  async group(registers: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}): Promise<Bytes> {
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

  /** Second round, worker: removes this worker's encryption from the flags of tuples, and adds noise. */
  async decryptFlags(tuples: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}) {
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const work = new StageWork(this.pool, run, seed);
    const decrypted = await work.upTo(0.8).overBlocks('decryptTupleFlags', tuples, TUPLE_BYTES, { keys });
    return work.sort([...decrypted, ...(await this.noise(work.upTo(1), keys))], TUPLE_BYTES);
  }

  private async noise(work: StageWork, { key, restKey }: RingKeys): Promise<Bytes[]> {
    const { parameters } = this;
    const tuples = await work.run('drawNoiseTuples', { parameters, seed: work.seed('noise') });
    return work.overBlocks('encryptNoiseTuples', tuples, 1, { key, restKey });
  }

  /**
   * Second round, aggregator: estimates how many distinct registers represent people. For each tuple that has a
   * frequency, also compares the tuple's count with 1, 2, …, maximumFrequency − 1.
   */
  async countRegisters(tuples: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}) {
    checkBlocks(tuples, TUPLE_BYTES, 'a message');
    const { duchyCount, reachNoise, noiseTupleCount, maximumFrequency } = this.parameters;
    const work = new StageWork(this.pool, run, seed);
    const options = { keys, maximumFrequency };
    const compared = await work.overBlocks('compareTuples', tuples, TUPLE_BYTES, options);
    const columns = compared.map(({ comparisons }) => this.columnsOf(comparisons));
    const histogramCount = compared.reduce((sum, batch) => sum + batch.histogramCount, 0);
    const noise = histogramCount + duchyCount * (reachNoise.offset + noiseTupleCount);
    const parts = Array.from({ length: maximumFrequency - 1 }, (_, i) => columns.map((column) => column[i]!));
    const comparisons = await this.sortColumns(work, parts);
    return { registers: Math.max(0, tuples.length / TUPLE_BYTES - noise), comparisons };
  }

  /** Third round, worker: removes this worker's encryption from the comparisons. */
  async decryptComparisons(comparisons: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}) {
    const work = new StageWork(this.pool, run, seed);
    this.checkColumns(comparisons);
    const decrypted = await work.overBlocks('decryptComparisons', comparisons, CIPHERTEXT_BYTES, { keys });
    const columns = this.columnsOf(Buffer.concat(decrypted)).map((column) => [column]);
    return this.sortColumns(work, columns);
  }

  /**
   * Third round, aggregator: counts the registers at each frequency, starting at 1. The last count is for the maximum
   * frequency or more.
   */
  async countFrequencies(comparisons: Uint8Array, { secretKey }: RingKeys, run: StageRun = {}) {
    const { maximumFrequency, duchyCount, frequencyNoise } = this.parameters;
    const work = new StageWork(this.pool, run);
    this.checkColumns(comparisons);
    const found = await work.overBlocks('findZeros', comparisons, CIPHERTEXT_BYTES, { secretKey });
    const isZero = Buffer.concat(found);
    const compared = isZero.length / (maximumFrequency - 1);
    const equal = Array.from({ length: maximumFrequency - 1 }, (_, i) =>
      isZero.subarray(i * compared, (i + 1) * compared).reduce((sum, zero) => sum + zero, 0),
    );
    const above = compared - equal.reduce((sum, count) => sum + count, 0);
    return [...equal, above].map((count) => Math.max(0, count - duchyCount * frequencyNoise.offset));
  }

  messageSize(message: string, sender: Sender): MessageSize | undefined {
    const { noiseTupleCount, duchyCount, maximumFrequency } = this.parameters;
    switch (message) {
      case 'SETUP_PHASE_INPUT':
        return this.sizeOfSetup(sender);
      case 'EXECUTION_PHASE_ONE_INPUT':
        return this.sizeOf(this.allRegisters);
      case 'EXECUTION_PHASE_TWO_INPUT': {
        // The aggregator starts the round, so the message has the aggregator's noise, and the noise of every worker up
        // to the sender.
        const noise = (1 + ((sender.place + 1) % duchyCount)) * noiseTupleCount;
        return { least: noise * TUPLE_BYTES, most: (this.allRegisters + noise) * TUPLE_BYTES };
      }
      case 'EXECUTION_PHASE_THREE_INPUT': {
        const tuples = this.allRegisters + duchyCount * noiseTupleCount;
        return { least: 0, most: tuples * (maximumFrequency - 1) * CIPHERTEXT_BYTES };
      }
      default:
        return undefined;
    }
  }

  private async sortColumns(work: StageWork, columns: Uint8Array[][]): Promise<Uint8Array> {
    const sorted: Uint8Array[] = [];
    for (const parts of columns) {
      sorted.push(
        await work.sort(
          parts.map((part) => copyOf(part)),
          CIPHERTEXT_BYTES,
        ),
      );
    }
    return Buffer.concat(sorted);
  }

  private columnsOf(comparisons: Uint8Array): Uint8Array[] {
    const columns = this.parameters.maximumFrequency - 1;
    const size = comparisons.length / columns;
    return Array.from({ length: columns }, (_, i) => comparisons.subarray(i * size, (i + 1) * size));
  }

  private checkColumns(comparisons: Uint8Array): void {
    checkBlocks(comparisons, (this.parameters.maximumFrequency - 1) * CIPHERTEXT_BYTES, 'a message');
  }
}
