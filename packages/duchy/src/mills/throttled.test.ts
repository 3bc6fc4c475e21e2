import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { throttled } from './throttled.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('throttled reports progress every five seconds, but not the end', () => {
  const reported: number[] = [];
  const onProgress = throttled((fraction) => reported.push(fraction));
  for (let step = 1; step <= 20; step++) {
    vi.advanceTimersByTime(1_000);
    onProgress(step / 20);
  }
  expect(reported).toEqual([0.25, 0.5, 0.75]);
});
