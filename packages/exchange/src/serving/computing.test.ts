import { manyFields, setOf } from '@measurement-exchange/testkit/hostileDescriptors';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Input, JobName } from '../compute/jobs.ts';
import { stopwatch } from '../compute/stopwatch.ts';
import { Admission } from './admission.ts';
import { Computing } from './computing.ts';
import { RateLimiter } from './rateLimiter.ts';

const small = setOf({ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] });
const LARGE = { before: manyFields(100_000, 'wide', 'a'), after: manyFields(100_000, 'wide', 'b') };

let rates: RateLimiter;
let slots: Admission;
let computing: Computing;
beforeEach(() => {
  // The rate limit refills so slowly that the remaining quota shows how much the jobs were charged.
  rates = new RateLimiter(() => ({ perSecond: 0.001, burst: 100_000 }));
  slots = new Admission();
  computing = new Computing(rates, slots);
});
afterEach(() => computing.stop());

const left = () => rates.bucketOf('acme').quota().remaining;
/**
 * Runs a job inside an operation of acme. The operation takes a slot, and gives it up while a long job waits or runs.
 */
const run = <J extends JobName>(job: J, input: Input<J>) =>
  slots.run(
    'acme',
    () => false,
    () => computing.run('acme', () => false, job, input),
  );

it('runs a short job', async () => {
  expect(await run('readSet', { set: { bytes: small } })).toMatchObject({ messageTypes: ['a.M'] });
});

it('runs a long job off the event loop, and charges its time to the rate limit', async () => {
  await run('diff', LARGE); // starts the thread
  const [before, elapsed] = [left(), stopwatch()];
  expect((await run('diff', LARGE)).breaking).toBeGreaterThan(1_000);
  const charged = before - left();
  expect(charged).toBeGreaterThan(5);
  // Each charged request corresponds to 2 ms of CPU time in the compute thread. The main thread must use less than half
  // of that time.
  expect(elapsed()).toBeLessThan(charged);
});

it('lets four long jobs of a principal wait without slots, and rejects more with RATE_LIMITED', async () => {
  const outcomes = Array.from({ length: 8 }, () =>
    run('diff', LARGE).then(
      () => 'done',
      (error) => error.reason,
    ),
  );
  await new Promise(setImmediate);
  expect(slots.running).toBeLessThanOrEqual(3);
  const all = await Promise.all(outcomes);
  expect(all.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(3);
  expect(slots.running).toBe(0);
});
