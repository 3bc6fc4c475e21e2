/** Runs stages: claims a stage that is due, and makes one attempt at it. */
import { repeat } from '@measurement-exchange/server';
import type { Duchy } from '../computations/context.ts';
import { claimStage } from '../database/index.ts';
import { Attempt } from './attempt.ts';

export interface MillOptions {
  /** Identifies this mill in the database. */
  owner: string;
  /** How long a lease lasts if it is not renewed; 60 s by default. After that, another mill may claim the stage. */
  leaseMs?: number;
  /** The interval at which the mill looks for a stage that is due; 200 ms by default. */
  pollMs?: number;
  /** The delay before the first retry of a failed stage; 5 s by default. */
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

  /** Works until the signal is aborted, and then releases the current stage. */
  run(signal: AbortSignal): Promise<void> {
    const { log } = this.duchy;
    return repeat('mill', () => this.once(signal), { everyMs: this.options.pollMs, signal, log });
  }
}
