/**
 * Measures the processor time between two turns of an exchange's event loop and writes long times to stderr. The
 * exchange process loads this file. Unlike the delay of the event loop, processor time does not grow with other work on
 * the machine.
 */
import { isMainThread } from 'node:worker_threads';

/** The environment variables that make the exchange report a busy event loop. */
export const BUSY_LOOP = { NODE_OPTIONS: `--import=${import.meta.url}` };
const MUCH_MS = 20;

/** Returns the longest time that the exchange reported, in milliseconds, or 0 if it reported none. */
export function busiest(output: string): number {
  const told = output.matchAll(/^busy loop: (\S+) ms$/gm);
  return Math.max(0, ...[...told].map(([, ms]) => Number(ms)));
}

if (isMainThread && process.env.NODE_OPTIONS === BUSY_LOOP.NODE_OPTIONS) {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms > MUCH_MS) console.error(`busy loop: ${ms.toFixed(1)} ms`);
    before = process.threadCpuUsage();
  }, 1).unref();
}
