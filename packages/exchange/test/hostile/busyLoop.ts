/**
 * How much processor time the event loop of an exchange takes between two turns. Unlike the delay of the loop, that does
 * not grow with what else the machine does. This file is loaded into the exchange, where it writes to stderr.
 */
import { isMainThread } from 'node:worker_threads';

/** The environment of an exchange that is to tell. */
export const BUSY_LOOP = { NODE_OPTIONS: `--import=${import.meta.url}` };
const MUCH_MS = 20;

/** The longest in what an exchange wrote, in milliseconds; 0 where it was never much. */
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
