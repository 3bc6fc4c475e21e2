/**
 * What nobody waits for: the log lines of requests, and metrics. What runs once in each request has left the caches of
 * the processor by the next one; for many in a row it takes a fraction of the time.
 */

const MOST = 64;
const WITHIN_MS = 100;

let waiting: (() => void)[] = [];
let timer: NodeJS.Timeout | undefined;

/** `work` must not fail, nor hold on to a request: it is kept for a tenth of a second. */
export function afterwards(work: () => void): void {
  waiting.push(work);
  if (waiting.length >= MOST) catchUp();
  else timer ??= setTimeout(catchUp, WITHIN_MS);
}

/** Now: somebody wants to know, or there is no later. */
export function catchUp(): void {
  clearTimeout(timer);
  timer = undefined;
  const all = waiting;
  waiting = [];
  for (const work of all) work();
}
