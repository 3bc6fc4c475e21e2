/** A stage that runs: its blocks in batches over the threads of a pool, whose number does not show in what comes out. */
import { createHmac } from 'node:crypto';
import { POINT_BYTES } from '../sketches.ts';
import { copyOf } from './blocks.ts';
import { checkBlocks } from './errors.ts';
import type { BatchOperation, Input, OperationName, Output } from './operations.ts';

/** How a stage is told to end, and tells how far it is. */
export interface StageRun {
  signal?: AbortSignal | undefined;
  /** From 0 to 1. */
  onProgress?: ((fraction: number) => void) | undefined;
}

/** Runs operations: a duchy's pool of threads. Inputs in `transfer` are gone afterwards. */
export interface Executor {
  /** How many operations run at once. */
  readonly size: number;
  run<O extends OperationName>(
    operation: O,
    input: Input<O>,
    options?: { signal?: AbortSignal | undefined; transfer?: ArrayBuffer[] },
  ): Promise<Output<O>>;
}

/** What a batch is given apart from its seed. */
type Batch<O extends BatchOperation> = Omit<Input<O>, 'seed'>;

/** Enough that the one inversion of a batch counts for little, and not more than a few seconds of work. */
const MOST = 2048;
/** Half of them take as long. */
const LEAST = 512;
/** As many batches, or a multiple of that, are done by 2, 4 or 8 threads at the same time. */
const BATCHES = 8;

export function batchSize(count: number): number {
  const batches = BATCHES * Math.max(1, Math.ceil(count / (BATCHES * MOST)));
  return Math.max(LEAST, Math.ceil(count / batches));
}

export class StageWork {
  private readonly pool: Executor;
  private readonly stageSeed: Uint8Array | undefined;
  private readonly signal: AbortSignal | undefined;
  private readonly onProgress: (fraction: number) => void;
  /** Of the whole, what is done when the step before this one ends, and when this one does. */
  private before = 0;
  private until: number | undefined;

  /** Without a seed, for a stage that draws nothing. */
  constructor(pool: Executor, { signal, onProgress = () => {} }: StageRun, seed?: Uint8Array) {
    this.pool = pool;
    this.stageSeed = seed;
    this.signal = signal;
    this.onProgress = onProgress;
  }

  /** When the next step ends, this much of the whole is done. */
  upTo(fraction: number): this {
    this.before = this.until ?? 0;
    this.until = fraction;
    return this;
  }

  /** No two steps, and no two batches of a step, draw the same. */
  seed(step: string, batch = 0): Uint8Array<ArrayBuffer> {
    return stepSeed(this.stageSeed!, step, batch);
  }

  run<O extends OperationName>(operation: O, input: Input<O>, given: Uint8Array[] = []): Promise<Output<O>> {
    const transfer = given.map(({ buffer }) => buffer as ArrayBuffer);
    return this.pool.run(operation, input, { signal: this.signal, transfer });
  }

  /** Sorted, the parts say nothing about the order they came in. They are given away. */
  sort(parts: Uint8Array[], size: number, tail?: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    return this.run('sort', { parts, size, ...(tail && { tail }) }, parts);
  }

  /** Outputs are in the order of the blocks. */
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
      // One more than there are threads, so that a thread that is done finds the next.
      await Promise.all(Array.from({ length: this.pool.size + 1 }, lane));
    } finally {
      isFailed = true;
    }
    return outputs;
  }
}

/** The random numbers of a step of a stage, or of a batch of it. */
export function stepSeed(seed: Uint8Array, step: string, batch = 0): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHmac('sha384', seed).update(`${step}\0${batch}`).digest());
}

/** Rejects with a LiquidLegionsError where one of these is not a compressed point of the curve. */
export async function checkPoints(points: Uint8Array, pool: Executor, run: StageRun = {}): Promise<void> {
  checkBlocks(points, POINT_BYTES, 'points');
  await new StageWork(pool, run).overBlocks('checkPoints', points, POINT_BYTES, {});
}
