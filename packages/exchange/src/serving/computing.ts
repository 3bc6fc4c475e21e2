/**
 * Runs jobs for operations. Short jobs run immediately on the main thread. Long jobs run one at a time in a worker
 * thread, and principals take turns.
 */
import { ComputeThread, failure } from '../compute/computeThread.ts';
import { type Input, isShort, type JobName, jobs, type Output } from '../compute/jobs.ts';
import { stopwatch } from '../compute/stopwatch.ts';
import { Admission } from './admission.ts';
import type { RateLimiter } from './rateLimiter.ts';

/** The maximum number of waiting jobs per principal. Each waiting job keeps its input in memory. */
const MAX_WAITING = 4;
/**
 * This CPU time counts as one request toward the caller's rate limit. At the default of 500 requests per second, one
 * caller can use the whole thread.
 */
const MS_PER_REQUEST = 2;

export class Computing {
  private readonly thread = new ComputeThread();
  private readonly turns = new Admission(1, undefined, MAX_WAITING);
  private readonly rates: RateLimiter;
  private readonly slots: Admission;

  /** While a request's job waits for the thread or runs in the thread, the request holds no slot in `slots`. */
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
