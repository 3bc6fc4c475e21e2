/** A thread for jobs that would block the event loop. A job that takes too much time or memory ends the thread. */
import { once } from 'node:events';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ExchangeError } from '@measurement-exchange/contract';
import type { Input, JobName, Output } from './jobs.ts';
import type { Done, Task } from './thread.ts';

const THREAD = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);
/**
 * The limit of a job's CPU time in milliseconds. CPU time of other work on the machine does not count. A malicious
 * descriptor set of 1 MiB takes about a second.
 */
const MAX_MS = 6_000;
/**
 * The limit of a job's elapsed time, as a multiple of its CPU time limit. On a busy machine, a job also waits for a
 * CPU, so its elapsed time exceeds its CPU time.
 */
const MAX_WAIT_FACTOR = 4;
/**
 * The memory limit of the thread. The thread caches the schemas of up to 2 MiB of descriptor sets, which takes up to
 * 200 MB.
 */
const LIMITS = { maxOldGenerationSizeMb: 768 };

interface Thread {
  worker: Worker;
  /** Resolves the promise that `run` awaits. `done` is undefined if the thread exited before the job was done. */
  settle: (done: Done | undefined) => void;
}

export class ComputeThread {
  private thread: Thread | undefined;
  private readonly maxMs: number;

  constructor(maxMs = MAX_MS) {
    this.maxMs = maxMs;
  }

  /** Runs a job in the thread. The caller must wait for each job before it runs the next one. */
  async run<J extends JobName>(job: J, input: Input<J>): Promise<{ output: Output<J>; ms: number }> {
    const thread = this.thread ?? (await this.start());
    const watch = this.endLongJob(thread.worker);
    const done = await new Promise<Done | undefined>((resolve) => {
      thread.settle = resolve;
      thread.worker.postMessage({ job, input } satisfies Task);
    });
    watch.abort();
    if (done === undefined) throw tooCostly();
    if (done.error !== undefined) throw failure(done.error);
    return { output: done.output as Output<J>, ms: done.ms };
  }

  /**
   * Ends the thread if the job exceeds a limit of CPU time or elapsed time. The caller must abort the returned
   * controller when the job ends.
   */
  private endLongJob(worker: Worker): AbortController {
    const watch = new AbortController();
    const { signal } = watch;
    const exceeded = async () => {
      const before = await worker.cpuUsage();
      for (let left = this.maxMs; left > 0; ) {
        await sleep(left, undefined, { signal });
        const { user, system } = await worker.cpuUsage(before);
        left = this.maxMs - (user + system) / 1000;
      }
    };
    // Both promises reject if the job ends first.
    Promise.any([exceeded(), sleep(MAX_WAIT_FACTOR * this.maxMs, undefined, { signal })]).then(
      () => (signal.aborted ? undefined : this.stop()),
      () => {},
    );
    return watch;
  }

  async stop(): Promise<void> {
    const { thread } = this;
    // Forget this thread now, so that the next job starts another thread even before this thread has exited.
    this.thread = undefined;
    await thread?.worker.terminate();
  }

  private async start(): Promise<Thread> {
    const worker = new Worker(THREAD, { resourceLimits: LIMITS });
    await once(worker, 'message');
    const thread: Thread = { worker, settle: () => {} };
    worker.on('message', (done: Done) => thread.settle(done));
    // Ignore the error of a thread that runs out of memory. The thread then exits, which triggers the handler below.
    worker.on('error', () => {});
    worker.on('exit', () => {
      if (this.thread === thread) this.thread = undefined;
      thread.settle(undefined);
    });
    this.thread = thread;
    return thread;
  }
}

/**
 * Converts an error of a job. A RangeError is a stack overflow, so the caller's job was too costly. Any other error is
 * a bug and stays unchanged.
 */
export function failure(error: unknown): unknown {
  return error instanceof RangeError ? tooCostly() : error;
}

function tooCostly(): ExchangeError {
  return new ExchangeError(
    'DESCRIPTOR_TOO_COSTLY',
    'Reading these descriptor sets or messages takes too long: use smaller or simpler ones.',
  );
}
