/** The stages with which both protocols of a ring begin, as functions from bytes to bytes. */
import { CIPHERTEXT_BYTES } from '../../sketches.ts';
import type { MessageSize, Sender } from '../messageSize.ts';
import { type Bytes, copyOf } from './blocks.ts';
import { checkBlocks, LiquidLegionsError } from './errors.ts';
import type { NoiseParameters } from './noiseParameters.ts';
import { NOISE_REGISTER_BYTES } from './noiseRegisters.ts';
import type { RingKeys } from './ringKeys.ts';
import { type Executor, type StageRun, StageWork } from './stageWork.ts';

export interface RegisterForm {
  registerBytes: number;
  /** Whether a message ends with a ciphertext of the number of registers that the histogram's noise added. */
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

  /** Every duchy: appends noise to the sketches of providers, under the combined key of all duchies. */
  async setup(
    sketches: readonly Uint8Array[],
    { key }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Bytes> {
    const { registerBytes, countsNoise } = this.form;
    for (const sketch of sketches) checkBlocks(sketch, registerBytes, 'a sketch');
    const { parameters } = this;
    const work = new StageWork(this.pool, run, seed);
    const { registers, histogramCount: count } = await work.run('drawNoiseRegisters', {
      parameters,
      seed: work.seed('noise'),
    });
    const options = { key, isFull: registerBytes > CIPHERTEXT_BYTES };
    const noise = await work.overBlocks('encryptNoiseRegisters', registers, NOISE_REGISTER_BYTES, options);
    const excess = countsNoise
      ? await work.run('encryptCount', { count, key, seed: work.seed('excess') })
      : undefined;
    const copies = sketches.map((sketch) => copyOf(sketch));
    return work.sort([...copies, ...noise], registerBytes, excess);
  }

  /**
   * Aggregator: makes one message of those of all duchies, its own included, and re-randomizes it. Otherwise, the first
   * worker would recognize the registers that it sent, and could leave out the noise of all others.
   */
  async combine(
    messages: readonly Uint8Array[],
    { key }: RingKeys,
    seed: Uint8Array,
    run: StageRun = {},
  ): Promise<Bytes> {
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

  /** The registers of a message, and the ciphertext of the noise, which is empty where none is counted. */
  protected partsOf(message: Uint8Array): { registers: Uint8Array; excess: Uint8Array } {
    const { registerBytes, countsNoise } = this.form;
    checkBlocks(message, registerBytes, 'a message');
    if (!countsNoise) return { registers: message, excess: new Uint8Array(0) };
    if (message.length === 0) throw new LiquidLegionsError('a message must have the ciphertext of its noise');
    const end = message.length - CIPHERTEXT_BYTES;
    return { registers: message.subarray(0, end), excess: copyOf(message, end) };
  }

  /** The size of the message of a worker to the aggregator: the sketches that the worker got, and its noise. */
  protected sizeOfSetup({ uploads }: Sender): MessageSize {
    const { maxSize, noiseRegisterCount } = this.parameters;
    return this.sizeOf(uploads * maxSize + noiseRegisterCount);
  }

  /** All sketches, and the noise of all duchies. */
  protected get allRegisters(): number {
    const { dataProviderCount, maxSize, duchyCount, noiseRegisterCount } = this.parameters;
    return dataProviderCount * maxSize + duchyCount * noiseRegisterCount;
  }

  /** The size of a message with this many registers. */
  protected sizeOf(registers: number): MessageSize {
    const { registerBytes, countsNoise } = this.form;
    const bytes = registers * registerBytes + (countsNoise ? CIPHERTEXT_BYTES : 0);
    return { least: bytes, most: bytes };
  }
}
