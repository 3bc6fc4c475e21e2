/** Runs stages: claims a stage that is due, and makes one attempt at it. */
import { repeat } from '@measurement-exchange/server';
import type { Duchy } from '../computations/context.ts';
import { claimStage } from '../database/index.ts';
import { Attempt } from './attempt.ts';

export interface MillOptions {
  owner: string;
  /** How long a lease lasts without a renewal. Defaults to 60 s. */
  leaseMs?: number;
  /**
   * The interval at which the mill looks for due stages. Defaults to 200 ms. The mill is also woken as soon as this
   * process makes a stage due. The interval therefore matters only for retries, and for stages that other processes
   * make due.
   */
  pollMs?: number;
  /**
   * The minimum delay before the first retry of a failed stage. Defaults to 5 s. Jitter increases each delay by up to
   * 100%.
   */
  retryMs?: number;
}

const LEASE_MS = 60_000;
const POLL_MS = 200;
const RETRY_MS = 5_000;

export class Mill {
  private readonly duchy: Duchy;
  private readonly options: Required<MillOptions>;

  constructor(duchy: Duchy, options: MillOptions) {
    this.duchy = duchy;
    this.options = { leaseMs: LEASE_MS, pollMs: POLL_MS, retryMs: RETRY_MS, ...options };
  }

  /** Claims a stage that is due and tries it once. Returns false if no stage is due. */
  async once(stop: AbortSignal = new AbortController().signal): Promise<boolean> {
    const { owner, leaseMs, retryMs } = this.options;
    const claim = await claimStage(this.duchy.db, { owner, leaseMs });
    if (claim === undefined) return false;
    await new Attempt(this.duchy, claim, { retryMs, stop }).run();
    return true;
  }

  /** Runs due stages until the signal is aborted, and then releases the stage in progress. */
  run(signal: AbortSignal): Promise<void> {
    const { log, mills: waker } = this.duchy;
    return repeat('mill', () => this.once(signal), { everyMs: this.options.pollMs, signal, log, waker });
  }
}
