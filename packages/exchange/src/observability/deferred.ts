/**
 * Work that nobody waits for: the log lines of requests, and metrics. Code that runs once per request has left the
 * caches of the processor by the next request; done for many in a row it takes a fraction of the time.
 */

const MAX_PENDING = 64;
const MAX_DELAY_MS = 100;

let pending: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;

/** `work` must not throw, and must not hold on to a request, which would live a tenth of a second longer. */
export function defer(work: () => void): void {
  pending.push(work);
  if (pending.length >= MAX_PENDING) flush();
  else timer ??= setTimeout(flush, MAX_DELAY_MS);
}

/** Does all pending work now: before metrics are read, and before the process ends. */
export function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  const batch = pending;
  pending = [];
  for (const work of batch) work();
}
