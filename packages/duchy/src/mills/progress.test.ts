import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nowAndThen } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('how far a stage is, is reported every few seconds, and not that it is done', () => {
  const reported: number[] = [];
  const onProgress = nowAndThen((fraction) => reported.push(fraction));
  for (let step = 1; step <= 20; step++) {
    vi.advanceTimersByTime(1_000);
    onProgress(step / 20);
  }
  expect(reported).toEqual([0.25, 0.5, 0.75]);
});
