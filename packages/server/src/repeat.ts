/** Repeats background jobs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

const MAX_PAUSE_MS = 30_000;

/** Ends the pauses of all jobs that share this waker. Call `wake` when there may be work to do. */
export class Waker {
  private waking = new AbortController();

  /**
   * Returns the signal that the next wake-up aborts. Get the signal before looking for work, so that a wake-up during
   * the search is not lost.
   */
  get woken(): AbortSignal {
    return this.waking.signal;
  }

  readonly wake = (): void => {
    this.waking.abort();
    this.waking = new AbortController();
  };
}

export interface RepeatOptions {
  everyMs: number;
  signal: AbortSignal;
  log: Logger;
  /** A wake-up starts the next run before `everyMs` is over, unless the last run failed. */
  waker?: Waker;
}

/**
 * Runs a job until the signal is aborted, with a pause of `everyMs` after each run. If the job returns true, it runs
 * again immediately. Each consecutive failure doubles the pause, up to 30 s or `everyMs`, whichever is longer. Logs
 * only the first of several consecutive failures, and the success that follows them.
 */
export async function repeat(
  name: string,
  job: () => Promise<unknown>,
  { everyMs, signal, log, waker = new Waker() }: RepeatOptions,
): Promise<void> {
  signal.addEventListener('abort', waker.wake, { once: true });
  for (let failures = 0; !signal.aborted; ) {
    const { woken } = waker;
    let more = false;
    try {
      more = (await job()) === true;
      if (failures > 0) log.info({ job: name }, 'works again');
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (failures === 0) log.warn({ job: name, reason: messageOf(error) }, 'failed; it is tried again');
      failures++;
    }
    if (more) continue;
    const pauseMs = Math.min(everyMs * 2 ** failures, Math.max(everyMs, MAX_PAUSE_MS));
    await sleep(pauseMs, undefined, { signal: failures > 0 ? signal : woken }).catch(() => {});
  }
}

/**
 * Returns a random time between `ms` and twice `ms`, so that callers that failed at the same time do not retry at the
 * same time.
 */
export function jittered(ms: number): number {
  return Math.round(ms * (1 + crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
