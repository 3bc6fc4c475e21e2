/**
 * Defers work that nobody waits for: log lines and metrics of requests. A batch of such work takes a fraction of the time of
 * single pieces, whose code leaves the caches of the processor between two requests.
 */

const MAX_PENDING = 64;
const MAX_DELAY_MS = 100;

let pending: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;

/** `work` must not throw, and must not reference a request, which would stay in memory for a tenth of a second longer. */
export function defer(work: () => void): void {
  pending.push(work);
  if (pending.length >= MAX_PENDING) flush();
  else timer ??= setTimeout(flush, MAX_DELAY_MS);
}

/** Does all pending work now. Called before metrics are read, and before the process ends. */
export function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  const batch = pending;
  pending = [];
  for (const work of batch) work();
}
