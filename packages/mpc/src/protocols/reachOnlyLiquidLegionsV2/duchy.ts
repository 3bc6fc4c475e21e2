/**
 * The stages of reach-only Liquid Legions v2, as functions from bytes to bytes. A register is an encrypted index. A
 * message has the sorted registers, and then one encrypted number: how many distinct registers are histogram noise.
 *
 * Setup: every duchy appends its noise to the sketches that it received. The aggregator combines and re-randomizes all
 * registers.
 *
 * Execution: each worker removes its key and multiplies the registers by a secret number. The aggregator then sees
 * equal registers as equal points, but nobody knows which index a point belongs to.
 */

import { drawScalars, Keystream, REACH_REGISTER_BYTES } from '../../sketches.ts';
import type { Bytes } from '../liquidLegions/blocks.ts';
import type { NoiseParameters } from '../liquidLegions/noiseParameters.ts';
import type { RingKeys } from '../liquidLegions/ringKeys.ts';
import { RingSetup } from '../liquidLegions/ringSetup.ts';
import { type Executor, type StageRun, StageWork } from '../liquidLegions/stageWork.ts';
import type { MessageSize, Sender } from '../messageSize.ts';

export class ReachOnlyStages extends RingSetup<NoiseParameters> {
  constructor(parameters: NoiseParameters, pool: Executor) {
    super(parameters, pool, { registerBytes: REACH_REGISTER_BYTES, countsNoise: true });
  }

  /** Execution, worker: blinds the registers. */
  async execute(given: Uint8Array, keys: RingKeys, seed: Uint8Array, run: StageRun = {}): Promise<Bytes> {
    const { registers, excess } = this.partsOf(given);
    const work = new StageWork(this.pool, run, seed);
    const blinding = drawScalars(new Keystream(work.seed('blinding')), 1);
    const options = { size: REACH_REGISTER_BYTES, keys, blinding };
    const blinded = await work.overBlocks('blindRegisters', registers, REACH_REGISTER_BYTES, options);
    const left = await work.run('passCount', { count: excess, keys, seed: work.seed('excess') });
    return work.sort(blinded, REACH_REGISTER_BYTES, left);
  }

  /**
   * Execution, aggregator: estimates how many registers are hit. A register is hit if it represents at least one
   * reached person.
   */
  async count(given: Uint8Array, { secretKey }: RingKeys, run: StageRun = {}): Promise<number> {
    const { registers, excess } = this.partsOf(given);
    const { duchyCount, dataProviderCount, histogramNoise, reachNoise, knownRegisters } = this.parameters;
    const work = new StageWork(this.pool, run);
    const options = { size: REACH_REGISTER_BYTES, secretKey };
    const points = await work.overBlocks('openIndexes', registers, REACH_REGISTER_BYTES, options);
    const distinct = await work.run('countDistinct', { parts: points }, points);
    const most = 2 * histogramNoise.offset * dataProviderCount * duchyCount;
    const encrypted = { count: excess, secretKey, most, expected: most / 2 };
    const histogramCount = await work.run('decryptCount', encrypted);
    const noise = duchyCount * reachNoise.offset + histogramCount + 2 * knownRegisters;
    return Math.max(0, distinct - noise);
  }

  messageSize(message: string, sender: Sender): MessageSize {
    return message === 'SETUP_PHASE_INPUT' ? this.sizeOfSetup(sender) : this.sizeOf(this.allRegisters);
  }
}
