/** The setup stages of both Liquid Legions protocols, as functions from bytes to bytes. */
import { CIPHERTEXT_BYTES } from '../../sketches.ts';
import type { MessageSize, Sender } from '../messageSize.ts';
import { copyOf } from './blocks.ts';
import { checkBlocks, LiquidLegionsError } from './errors.ts';
import type { NoiseParameters } from './noiseParameters.ts';
import { NOISE_REGISTER_BYTES } from './noiseRegisters.ts';
import type { RingKeys } from './ringKeys.ts';
import { type Executor, type StageRun, StageWork } from './stageWork.ts';

export interface RegisterForm {
  registerBytes: number;
  /** Whether a message ends with an encrypted count of the distinct registers that histogram noise added. */
  countsNoise: boolean;
}

export class RingSetup<P extends NoiseParameters> {
  protected readonly parameters: P;
  protected readonly pool: Executor;
  private readonly form: RegisterForm;

  constructor(parameters: P, pool: Executor, form: RegisterForm) {
    this.parameters = parameters;
    this.pool = pool;
    this.form = form;
  }

  /**
   * Appends noise registers to the providers' sketches, and sorts all registers. The noise is encrypted under the
   * combined key of all duchies. Every duchy calls this function.
   */
  async setup(sketches: readonly Uint8Array[], { key }: RingKeys, seed: Uint8Array, run: StageRun = {}) {
    const { registerBytes, countsNoise } = this.form;
    for (const sketch of sketches) checkBlocks(sketch, registerBytes, 'a sketch');
    const { parameters } = this;
    const work = new StageWork(this.pool, run, seed);
    const drawn = await work.run('drawNoiseRegisters', { parameters, seed: work.seed('noise') });
    const { registers, histogramCount: count } = drawn;
    const options = { key, isFull: registerBytes > CIPHERTEXT_BYTES };
    const noise = await work.overBlocks('encryptNoiseRegisters', registers, NOISE_REGISTER_BYTES, options);
    const excess = countsNoise
      ? await work.run('encryptCount', { count, key, seed: work.seed('excess') })
      : undefined;
    const copies = sketches.map((sketch) => copyOf(sketch));
    return work.sort([...copies, ...noise], registerBytes, excess);
  }

  /**
   * Combines the messages of all duchies, including the aggregator's own, and re-randomizes the registers. Only the
   * aggregator calls this function. Without re-randomizing, the first worker would recognize the registers that it
   * sent, and could drop all other duchies' noise.
   */
  async combine(messages: readonly Uint8Array[], { key }: RingKeys, seed: Uint8Array, run: StageRun = {}) {
    const size = this.form.registerBytes;
    const work = new StageWork(this.pool, run, seed);
    const all = messages.map((message) => this.partsOf(message));
    const counts = all.map(({ excess }) => excess);
    const excess = this.form.countsNoise
      ? await work.run('addCounts', { counts, key, seed: work.seed('addCounts') })
      : undefined;
    const registers = Buffer.concat(all.map((message) => message.registers));
    const fresh = await work.overBlocks('reRandomizeRegisters', registers, size, { key });
    return work.sort(fresh, size, excess);
  }

  /**
   * Splits a message into its registers and the encrypted count of noise. The count is empty if `countsNoise` is false.
   */
  protected partsOf(message: Uint8Array): { registers: Uint8Array; excess: Uint8Array } {
    const { registerBytes, countsNoise } = this.form;
    checkBlocks(message, registerBytes, 'a message');
    if (!countsNoise) return { registers: message, excess: new Uint8Array(0) };
    if (message.length === 0) throw new LiquidLegionsError('a message must have the ciphertext of its noise');
    const end = message.length - CIPHERTEXT_BYTES;
    return { registers: message.subarray(0, end), excess: copyOf(message, end) };
  }

  /**
   * Returns the size of a worker's message to the aggregator. The message has the sketches that the worker received,
   * and the worker's noise.
   */
  protected sizeOfSetup({ uploads }: Sender): MessageSize {
    const { maxSize, noiseRegisterCount } = this.parameters;
    return this.sizeOf(uploads * maxSize + noiseRegisterCount);
  }

  protected get allRegisters(): number {
    const { dataProviderCount, maxSize, duchyCount, noiseRegisterCount } = this.parameters;
    return dataProviderCount * maxSize + duchyCount * noiseRegisterCount;
  }

  protected sizeOf(registers: number): MessageSize {
    const { registerBytes, countsNoise } = this.form;
    const bytes = registers * registerBytes + (countsNoise ? CIPHERTEXT_BYTES : 0);
    return { least: bytes, most: bytes };
  }
}
