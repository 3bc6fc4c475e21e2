/** A pool of at most one thread per CPU. Threads start when there is work, and end when no computation needs them. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { type Transferable, Worker } from 'node:worker_threads';
import { LiquidLegionsError } from '@measurement-exchange/mpc/protocols/liquidLegions/errors';
import type {
  Input,
  OperationName,
  Output,
} from '@measurement-exchange/mpc/protocols/liquidLegions/operations';

/** The thread's source file: TypeScript in the workspace, JavaScript in published packages. */
const THREAD = new URL(`./poolThread${extname(import.meta.url)}`, import.meta.url);
/** A thread without work ends after this time, unless a computation may need it soon. */
const IDLE_MS = 10_000;

export interface Call {
  operation: OperationName;
  input: Input<OperationName>;
}

/** A message from a thread. `isLie` is true if the operation failed because its input does not follow the protocol. */
export type Answer = { output: Output<OperationName> } | { problem: string; isLie: boolean };

interface Task extends Call {
  transfer: Transferable[];
  resolve: (output: Output<OperationName>) => void;
  reject: (error: unknown) => void;
}

export class Pool {
  readonly size: number;
  private readonly threads = new Set<Thread>();
  private readonly waiting: Task[] = [];
  private readonly idleMs: number;
  private readonly needs = new Set<() => Promise<boolean>>();

  constructor(size = availableParallelism(), idleMs = IDLE_MS) {
    this.size = size;
    this.idleMs = idleMs;
  }

  /**
   * Keeps idle threads alive while `isNeeded` returns true, because starting threads is slow. Call the returned
   * function to let idle threads end again.
   */
  keepWhile(isNeeded: () => Promise<boolean>): () => void {
    this.needs.add(isNeeded);
    return () => this.needs.delete(isNeeded);
  }

  private async isNeeded(): Promise<boolean> {
    const answers = await Promise.allSettled(Array.from(this.needs, (isNeeded) => isNeeded()));
    return answers.some((answer) => answer.status === 'fulfilled' && answer.value);
  }

  /**
   * Runs an operation in a thread. An abort rejects the promise immediately. A thread that already runs the operation
   * still finishes it.
   */
  async run<O extends OperationName>(
    operation: O,
    input: Input<O>,
    { signal, transfer = [] }: { signal?: AbortSignal | undefined; transfer?: Transferable[] } = {},
  ): Promise<Output<O>> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Output<OperationName>>();
    const task: Task = { operation, input, transfer, resolve, reject };
    const abort = () => {
      const place = this.waiting.indexOf(task);
      if (place >= 0) this.waiting.splice(place, 1);
      reject(signal!.reason);
    };
    signal?.addEventListener('abort', abort);
    this.waiting.push(task);
    this.assign();
    try {
      return (await promise) as Output<O>;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  private assign(): void {
    while (this.waiting.length > 0) {
      const thread = [...this.threads].find(({ isIdle }) => isIdle) ?? this.start();
      if (thread === undefined) return;
      thread.take(this.waiting.shift()!);
    }
  }

  private start(): Thread | undefined {
    if (this.threads.size >= this.size) return undefined;
    const thread = new Thread({
      idleMs: this.idleMs,
      isNeeded: () => this.isNeeded(),
      onIdle: () => this.assign(),
      // Remove the thread as soon as it begins to end, so that it gets no more work and another thread may start.
      onEnding: () => {
        this.threads.delete(thread);
        this.assign();
      },
    });
    this.threads.add(thread);
    return thread;
  }

  /** Ends all threads, even those that are computing. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.threads, (thread) => thread.end()));
  }
}

export const POOL = new Pool();

interface ThreadOptions {
  idleMs: number;
  isNeeded: () => Promise<boolean>;
  onIdle: () => void;
  onEnding: () => void;
}

class Thread {
  private readonly worker: Worker;
  private readonly options: ThreadOptions;
  private task: Task | undefined;
  /** The timer that ends the idle thread. It runs only while the thread has no work. */
  private idle: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions) {
    this.options = options;
    // Limit V8's young generation, so that short-lived objects are freed sooner. The data blocks are outside V8's heap.
    this.worker = new Worker(THREAD, { resourceLimits: { maxYoungGenerationSizeMb: 6 } });
    let problem: unknown;
    this.worker.on('message', (answer: Answer) => {
      const task = this.task!;
      this.task = undefined;
      this.rest();
      if ('output' in answer) task.resolve(answer.output);
      else task.reject(answer.isLie ? new LiquidLegionsError(answer.problem) : new Error(answer.problem));
      options.onIdle();
    });
    this.worker.on('error', (error) => {
      problem = error;
    });
    this.worker.on('exit', () => {
      clearTimeout(this.idle);
      // Don't retry the task here, because its input was moved to the thread and is lost. Only the caller can retry.
      this.task?.reject(new Error('a thread of the computation ended', { cause: problem }));
      options.onEnding();
    });
  }

  get isIdle(): boolean {
    return this.task === undefined;
  }

  take(task: Task): void {
    clearTimeout(this.idle);
    this.idle = undefined;
    this.task = task;
    this.worker.ref();
    const { operation, input, transfer } = task;
    this.worker.postMessage({ operation, input } satisfies Call, transfer);
  }

  /** Starts the timer that ends an idle thread. An idle thread does not keep the process alive. */
  private rest(): void {
    this.worker.unref();
    this.idle = setTimeout(() => void this.endUnlessNeeded(), this.options.idleMs).unref();
  }

  private async endUnlessNeeded(): Promise<void> {
    const { idle } = this;
    const isNeeded = await this.options.isNeeded();
    // Do nothing if the thread got work while `isNeeded` ran.
    if (this.idle !== idle) return;
    if (isNeeded) this.rest();
    else await this.end();
  }

  async end(): Promise<void> {
    this.options.onEnding();
    await this.worker.terminate();
  }
}
