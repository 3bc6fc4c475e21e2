/**
 * Loaded into an exchange by --import: tells on stderr how much processor time its event loop took between two turns, where
 * that is much. Unlike the delay of the loop, it does not grow with what else the machine does.
 */
import { isMainThread } from 'node:worker_threads';

const MUCH_MS = 20;

if (isMainThread) {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms > MUCH_MS) console.error(`busy loop: ${ms.toFixed(1)} ms`);
    before = process.threadCpuUsage();
  }, 1).unref();
}
