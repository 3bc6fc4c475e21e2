import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Horizon } from './horizon.ts';

let oldest: () => Promise<string>;
let looks: number;
let told: string[];
let horizon: Horizon;
beforeEach(() => {
  vi.useFakeTimers();
  looks = 0;
  told = [];
  horizon = new Horizon(() => {
    looks++;
    return oldest();
  });
});
afterEach(() => {
  horizon.stop();
  vi.useRealTimers();
});
const wait = (xid: string) => horizon.wait(xid, () => told.push(xid));

it('the horizon notifies each waiter when all transactions up to its xid have ended, and polls only for waiters', async () => {
  oldest = async () => '9';
  for (const xid of ['9', '10', '11']) wait(xid);
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual([]);
  oldest = async () => '11';
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual(['9', '10']);
  oldest = async () => '12';
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual(['9', '10', '11']);
  const before = looks;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(looks).toBe(before);
  wait('11');
  await vi.advanceTimersByTimeAsync(2);
  expect(told).toHaveLength(4);
});

it('the horizon polls once for all waiters, and less often while it does not move', async () => {
  oldest = async () => '1';
  for (let xid = 1; xid <= 300; xid++) wait(String(xid));
  await vi.advanceTimersByTimeAsync(6_400);
  expect(looks).toBeLessThan(110);
  expect(looks).toBeGreaterThan(90);
});

it('the horizon polls more often again when it moves, and does not poll after it was stopped', async () => {
  oldest = async () => '1';
  wait('5');
  await vi.advanceTimersByTimeAsync(1_000);
  const before = looks;
  oldest = async () => '2';
  // After the horizon moves, the pauses between polls are 2, 4, 8, 16, and 32 ms again. If they stayed at 64 ms, only
  // two polls would fit into 128 ms.
  await vi.advanceTimersByTimeAsync(128);
  expect(looks - before).toBeGreaterThanOrEqual(5);
  horizon.stop();
  const stopped = looks;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(looks).toBe(stopped);
});

it('the horizon keeps polling after the database was unreachable', async () => {
  oldest = async () => Promise.reject(new Error('away'));
  wait('5');
  await vi.advanceTimersByTimeAsync(200);
  oldest = async () => '6';
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual(['5']);
});
