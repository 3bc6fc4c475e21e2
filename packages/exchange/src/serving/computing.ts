/**
 * Runs jobs for operations. Short jobs run immediately on the main thread. Long jobs run in a worker thread, one at a time,
 * and principals take turns.
 */
import { ComputeThread, failure } from '../compute/computeThread.ts';
import { type Input, isShort, type JobName, jobs, type Output } from '../compute/jobs.ts';
import { stopwatch } from '../compute/stopwatch.ts';
import { Admission } from './admission.ts';
import type { RateLimiter } from './rateLimiter.ts';

/** How many of a principal's jobs may wait. Each waiting job keeps its input in memory. */
const MAX_WAITING = 4;
/**
 * The CPU time that counts as one request toward the caller's rate limit. With the default limit of 500 requests per
 * second, a single caller may use the entire thread.
 */
const MS_PER_REQUEST = 2;

export class Computing {
  private readonly thread = new ComputeThread();
  private readonly turns = new Admission(1, undefined, MAX_WAITING);
  private readonly rates: RateLimiter;
  private readonly slots: Admission;

  /** `slots` manages the callers' slots, which they release while they wait for the thread. */
  constructor(rates: RateLimiter, slots: Admission) {
    this.rates = rates;
    this.slots = slots;
  }

  async run<J extends JobName>(
    principal: string,
    isGone: () => boolean,
    job: J,
    input: Input<J>,
  ): Promise<Output<J>> {
    const charge = (ms: number) => this.rates.bucketOf(principal).charge(Math.floor(ms / MS_PER_REQUEST));
    if ((isShort[job] as (input: Input<J>) => boolean)(input)) {
      const elapsed = stopwatch();
      try {
        return (jobs[job] as (input: Input<J>) => Output<J>)(input);
      } catch (error) {
        throw failure(error);
      } finally {
        charge(elapsed());
      }
    }
    const runInThread = async () => {
      const { output, ms } = await this.thread.run(job, input);
      charge(ms);
      return output;
    };
    return this.slots.outside(principal, () => this.turns.run(principal, isGone, runInThread));
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
