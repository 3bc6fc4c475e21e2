import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { afterwards, catchUp } from './afterwards.ts';

afterEach(catchUp);

it('is done soon, in the order in which it came, and once', async () => {
  const done: number[] = [];
  for (const n of [1, 2, 3]) afterwards(() => done.push(n));
  expect(done).toEqual([]);
  await sleep(200);
  expect(done).toEqual([1, 2, 3]);
  afterwards(() => done.push(4));
  await sleep(200);
  expect(done).toEqual([1, 2, 3, 4]);
});

it('is done at once when somebody wants to know', () => {
  const done: number[] = [];
  afterwards(() => done.push(1));
  catchUp();
  expect(done).toEqual([1]);
  catchUp();
  expect(done).toEqual([1]);
});

it('does not pile up', () => {
  let done = 0;
  for (let i = 0; i < 1_000; i++) afterwards(() => done++);
  expect(done).toBeGreaterThan(900);
});

it('may ask for more of it', async () => {
  const done: string[] = [];
  afterwards(() => {
    done.push('first');
    afterwards(() => done.push('second'));
  });
  catchUp();
  expect(done).toEqual(['first']);
  await sleep(200);
  expect(done).toEqual(['first', 'second']);
});
