/**
 * Entry point for Node: runs `correctReport` in a worker thread with a time limit, so that a large report does not
 * block the caller.
 *
 * ```js
 * const report = await correctInThread(plan, answers, { limitMs: 60_000 });
 * ```
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Report } from '../figures/report.ts';
import { type Limits, type Task, within } from './within.ts';

const THREAD = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** Calls `correctReport` in a new thread. Throws a SolveError if no solution is found within the time limit. */
export function correctInThread(
  plan: Task['plan'],
  answers: Task['answers'],
  limits: Limits = {},
): Promise<Report> {
  return within((done, failed) => {
    const worker = new Worker(THREAD, { workerData: { plan, answers } satisfies Task });
    worker.on('message', done);
    worker.on('error', failed);
    return () => void worker.terminate();
  }, limits);
}
