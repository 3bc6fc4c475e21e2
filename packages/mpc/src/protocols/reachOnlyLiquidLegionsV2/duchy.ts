/**
 * Reach-only Liquid Legions v2, stage by stage, as functions from bytes to bytes. A message is the registers of all sketches,
 * each the ciphertext of its index, sorted; and last a ciphertext of the number of registers that noise added.
 *
 * Setup: every duchy appends its noise to the sketches it got; the aggregator puts all together and re-randomizes
 * them. Execution: one worker after the other takes its key off, and multiplies the registers by a secret number; at
 * the aggregator, equal registers are then equal points, and nobody knows which index a point belongs to.
 */

import { copyOf } from '../../liquidLegions/blocks.ts';
import { checkBlocks, LiquidLegionsError } from '../../liquidLegions/errors.ts';
import type { NoiseParameters } from '../../liquidLegions/noiseParameters.ts';
import { NOISE_REGISTER_BYTES } from '../../liquidLegions/noiseRegisters.ts';
import type { RingKeys } from '../../liquidLegions/ringKeys.ts';
import { type Executor, type StageRun, StageWork } from '../../liquidLegions/stageWork.ts';
import { CIPHERTEXT_BYTES, drawScalars, Keystream, REACH_REGISTER_BYTES } from '../../sketches.ts';

export class ReachOnlyStages {
  private readonly parameters: NoiseParameters;
  private readonly pool: Executor;

  constructor(parameters: NoiseParameters, pool: Executor) {
    this.parameters = parameters;
    this.pool = pool;
  }

  /** Setup, every duchy: appends noise to the sketches of providers, under the combined key of all duchies. */
  async setup(
    sketches: readonly Uint8Array[],
    { key }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    for (const sketch of sketches) checkBlocks(sketch, REACH_REGISTER_BYTES, 'a sketch');
    const { parameters } = this;
    const work = new StageWork(this.pool, run, seed);
    const { registers, histogramCount: count } = await work.run('drawNoiseRegisters', {
      parameters,
      seed: work.seed('noise'),
    });
    const options = { key, isFull: false };
    const noise = await work.overBlocks('encryptNoiseRegisters', registers, NOISE_REGISTER_BYTES, options);
    const excess = await work.run('encryptCount', { count, key, seed: work.seed('excess') });
    const copies = sketches.map((sketch) => copyOf(sketch));
    return work.sort([...copies, ...noise], REACH_REGISTER_BYTES, excess);
  }

  /**
   * Setup, aggregator: makes one message of those of all duchies, its own included, and re-randomizes it. Otherwise,
   * the first worker would recognize the registers that it sent, and could leave out the noise of all others.
   */
  async combine(
    messages: readonly Uint8Array[],
    { key }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const size = REACH_REGISTER_BYTES;
    const work = new StageWork(this.pool, run, seed);
    const all = messages.map(parts);
    const counts = all.map((message) => message.excess);
    const excess = await work.run('addCounts', { counts, key, seed: work.seed('addCounts') });
    const registers = Buffer.concat(all.map((message) => message.registers));
    const fresh = await work.overBlocks('reRandomizeRegisters', registers, size, { key });
    return work.sort(fresh, size, excess);
  }

  /** Execution, worker. */
  async execute(
    given: Uint8Array,
    keys: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { registers, excess } = parts(given);
    const work = new StageWork(this.pool, run, seed);
    const blinding = drawScalars(new Keystream(work.seed('blinding')), 1);
    const options = { size: REACH_REGISTER_BYTES, keys, blinding };
    const blinded = await work.overBlocks('blindRegisters', registers, REACH_REGISTER_BYTES, options);
    const left = await work.run('passCount', { count: excess, keys, seed: work.seed('excess') });
    return work.sort(blinded, REACH_REGISTER_BYTES, left);
  }

  /** Execution, aggregator: how many registers have somebody, as far as the noise lets it know. */
  async count(given: Uint8Array, { secretKey }: RingKeys, run: StageRun = {}): Promise<number> {
    const { registers, excess } = parts(given);
    const { duchyCount, dataProviderCount, histogramNoise, reachNoise, knownRegisters } = this.parameters;
    const work = new StageWork(this.pool, run);
    const options = { size: REACH_REGISTER_BYTES, secretKey };
    const points = await work.overBlocks('openIndexes', registers, REACH_REGISTER_BYTES, options);
    const distinct = await work.run('countDistinct', { parts: points }, points);
    const most = 2 * histogramNoise.offset * dataProviderCount * duchyCount;
    const histogramCount = await work.run('decryptCount', {
      ...{ count: excess, secretKey, most },
      expected: most / 2,
    });
    const noise = duchyCount * reachNoise.offset + histogramCount + 2 * knownRegisters;
    return Math.max(0, distinct - noise);
  }
}

function parts(given: Uint8Array): { registers: Uint8Array; excess: Uint8Array } {
  checkBlocks(given, REACH_REGISTER_BYTES, 'a message');
  if (given.length === 0) throw new LiquidLegionsError('a message must have the ciphertext of its noise');
  const end = given.length - CIPHERTEXT_BYTES;
  return { registers: given.subarray(0, end), excess: copyOf(given, end) };
}
