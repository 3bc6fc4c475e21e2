/** Repeats background jobs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** The maximum pause after failures. */
const MAX_PAUSE_MS = 30_000;

/**
 * Runs a job every `everyMs` until the signal is aborted. If the job returns true, it runs again immediately. Each failure
 * doubles the pause. Logs only the first of several failures in a row, and the success that follows.
 */
export async function repeat(
  name: string,
  job: () => Promise<unknown>,
  { everyMs, signal, log }: { everyMs: number; signal: AbortSignal; log: Logger },
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
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
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/**
 * Returns a random time between `ms` and twice `ms`, so that callers that failed at the same time do not retry at the same
 * time.
 */
export function jittered(ms: number): number {
  return Math.round(ms * (1 + crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
