import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { defer, flush } from './deferred.ts';

afterEach(flush);

it('runs deferred work soon, in order, and once', async () => {
  const done: number[] = [];
  for (const n of [1, 2, 3]) defer(() => done.push(n));
  expect(done).toEqual([]);
  await sleep(200);
  expect(done).toEqual([1, 2, 3]);
  defer(() => done.push(4));
  await sleep(200);
  expect(done).toEqual([1, 2, 3, 4]);
});

it('runs deferred work immediately and only once when it is flushed', () => {
  const done: number[] = [];
  defer(() => done.push(1));
  flush();
  expect(done).toEqual([1]);
  flush();
  expect(done).toEqual([1]);
});

it('runs deferred work immediately if too much of it is waiting', () => {
  let done = 0;
  for (let i = 0; i < 1_000; i++) defer(() => done++);
  expect(done).toBeGreaterThan(900);
});

it('lets deferred work defer more work, which runs later', async () => {
  const done: string[] = [];
  defer(() => {
    done.push('first');
    defer(() => done.push('second'));
  });
  flush();
  expect(done).toEqual(['first']);
  await sleep(200);
  expect(done).toEqual(['first', 'second']);
});
