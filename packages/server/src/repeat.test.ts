import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { repeat, Waker } from './repeat.ts';

const HOUR_MS = 3600_000;
const log = pino({ level: 'silent' });

let stop = new AbortController();
let running: Promise<unknown>[] = [];
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  stop = new AbortController();
  running = [];
});

/** Starts a job that pauses for an hour between two runs, unless the waker wakes it. */
function start(waker: Waker, run: (count: number) => unknown = () => false) {
  const job = vi.fn(async () => run(job.mock.calls.length));
  running.push(repeat('job', job, { everyMs: HOUR_MS, signal: stop.signal, log, waker }));
  return job;
}

it('a waker wakes every job that shares it from its pause', async () => {
  const waker = new Waker();
  const jobs = [start(waker), start(waker)];
  for (const round of [1, 2, 3]) {
    await expect.poll(() => jobs.map((job) => job.mock.calls.length)).toEqual([round, round]);
    // Give the jobs time to begin their pause.
    await sleep(5);
    waker.wake();
  }
});

it('a waker does not lose a wake-up during a run that returns false', async () => {
  const waker = new Waker();
  const job = start(waker, async (count) => {
    // Wake the job after the run has looked for work and before the run ends. This wake-up must not be lost.
    await sleep(1);
    if (count < 20) waker.wake();
    return false;
  });
  await expect.poll(() => job.mock.calls.length).toBe(20);
});

it('a waker does not wake a failed job before its pause ends', async () => {
  const waker = new Waker();
  const job = start(waker, () => {
    waker.wake();
    throw new Error('The database does not respond.');
  });
  await sleep(20);
  waker.wake();
  await sleep(20);
  expect(job).toHaveBeenCalledTimes(1);
});

it('a stopped job ends its pause, after a success and after a failure', async () => {
  const waker = new Waker();
  start(waker);
  start(waker, () => Promise.reject(new Error('No.')));
  await sleep(5);
  stop.abort();
  await Promise.all(running);
});
