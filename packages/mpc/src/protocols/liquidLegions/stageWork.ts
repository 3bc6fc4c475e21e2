/** Runs a stage in batches of blocks on a thread pool. The output does not depend on the number of threads. */
import { createHmac } from 'node:crypto';
import { POINT_BYTES } from '../../sketches.ts';
import { type Bytes, copyOf } from './blocks.ts';
import { checkBlocks } from './errors.ts';
import type { BatchOperation, Input, OperationName, Output } from './operations.ts';

export interface StageRun {
  signal?: AbortSignal | undefined;
  onProgress?: ((fraction: number) => void) | undefined;
}

/** Runs operations on a duchy's thread pool. After `run`, the caller must not use the buffers in `transfer`. */
export interface Executor {
  readonly size: number;
  run<O extends OperationName>(
    operation: O,
    input: Input<O>,
    options?: { signal?: AbortSignal | undefined; transfer?: ArrayBuffer[] },
  ): Promise<Output<O>>;
}

type Batch<O extends BatchOperation> = Omit<Input<O>, 'seed'>;

/**
 * The maximum number of blocks in a batch. Every addition on a batch of points needs one field inversion, which costs
 * little per point at this size. A batch takes at most a few seconds.
 */
const MOST = 2048;
/** Inputs with at most this many blocks are one batch. */
const LEAST = 256;
/**
 * An input is split into more than two batches only if each batch has at least this many blocks. In batches of 256, the
 * inversions take two fifths of the time, and in batches of this size a quarter.
 */
const LEAST_OF_MANY = 512;
/**
 * Large inputs are split into a multiple of this number of batches, so that 2, 4, or 8 threads finish at the same time.
 */
const BATCHES = 8;

export function batchSize(count: number): number {
  if (count <= LEAST) return LEAST;
  let batches = BATCHES * Math.max(1, Math.ceil(count / (BATCHES * MOST)));
  while (batches > 2 && count / batches < LEAST_OF_MANY) batches /= 2;
  return Math.ceil(count / batches);
}

export class StageWork {
  private readonly pool: Executor;
  private readonly stageSeed: Uint8Array | undefined;
  private readonly signal: AbortSignal | undefined;
  private readonly onProgress: (fraction: number) => void;
  /**
   * The fraction of the stage that is done when the current step begins (`before`) and when it ends (`until`). `until`
   * is undefined if the stage has only one step.
   */
  private before = 0;
  private until: number | undefined;

  /** `seed` is not needed for a stage without randomness. */
  constructor(pool: Executor, { signal, onProgress = () => {} }: StageRun, seed?: Uint8Array) {
    this.pool = pool;
    this.stageSeed = seed;
    this.signal = signal;
    this.onProgress = onProgress;
  }

  /** Starts the next step. `fraction` is the part of the stage that will be done when the step ends. */
  upTo(fraction: number): this {
    this.before = this.until ?? 0;
    this.until = fraction;
    return this;
  }

  /** Returns the seed for one batch of a step. Each step and each batch has a different seed. */
  seed(step: string, batch = 0): Bytes {
    return stepSeed(this.stageSeed!, step, batch);
  }

  run<O extends OperationName>(operation: O, input: Input<O>, given: Uint8Array[] = []): Promise<Output<O>> {
    const transfer = given.map(({ buffer }) => buffer as ArrayBuffer);
    return this.pool.run(operation, input, { signal: this.signal, transfer });
  }

  /**
   * Sorts the blocks of all parts, so that the original order is lost. The caller must not use the parts afterwards.
   */
  sort(parts: Uint8Array[], size: number, tail?: Uint8Array): Promise<Bytes> {
    return this.run('sort', { parts, size, ...(tail && { tail }) }, parts);
  }

  overBlocks<O extends BatchOperation>(
    operation: O,
    blocks: Uint8Array,
    size: number,
    others: Omit<Batch<O>, 'blocks'>,
  ): Promise<Output<O>[]> {
    const batchOf = (from: number, to: number) =>
      ({ ...others, blocks: copyOf(blocks, from * size, to * size) }) as unknown as Batch<O>;
    return this.inBatches(operation, blocks.length / size, batchOf);
  }

  async inBatches<O extends BatchOperation>(
    operation: O,
    count: number,
    batchOf: (from: number, to: number) => Batch<O>,
  ): Promise<Output<O>[]> {
    const { before, until = 1 } = this;
    const size = batchSize(count);
    const outputs: Output<O>[] = Array(Math.ceil(count / size));
    let [next, done, isFailed] = [0, 0, false];
    const lane = async () => {
      while (next < outputs.length && !isFailed) {
        const batch = next++;
        const some = batchOf(batch * size, Math.min((batch + 1) * size, count));
        const seed = this.stageSeed && this.seed(operation, batch);
        const input = { ...some, ...(seed && { seed }) } as Input<O>;
        outputs[batch] = await this.run(operation, input, [input.blocks]);
        this.onProgress(before + (++done / outputs.length) * (until - before));
      }
    };
    try {
      // A lane gives the pool one batch at a time, and waits for its output. Use one more lane than threads, so that a
      // thread that finishes a batch finds the next batch already queued.
      await Promise.all(Array.from({ length: this.pool.size + 1 }, lane));
    } finally {
      isFailed = true;
    }
    return outputs;
  }
}

export function stepSeed(seed: Uint8Array, step: string, batch = 0): Bytes {
  return new Uint8Array(createHmac('sha384', seed).update(`${step}\0${batch}`).digest());
}

export async function checkPoints(points: Uint8Array, pool: Executor, run: StageRun = {}): Promise<void> {
  checkBlocks(points, POINT_BYTES, 'points');
  await new StageWork(pool, run).overBlocks('checkPoints', points, POINT_BYTES, {});
}
