import { afterEach, expect, it, vi } from 'vitest';
import { createClock } from './clock.ts';

afterEach(() => vi.restoreAllMocks());

it('ignores small corrections of the system clock, and follows its jumps', () => {
  const clock = createClock();
  const [now, wall] = [performance.now(), performance.timeOrigin + performance.now()];
  const at = (passedMs: number, wallMs: number) => {
    vi.spyOn(performance, 'now').mockReturnValue(now + passedMs);
    vi.spyOn(Date, 'now').mockReturnValue(wall + wallMs);
    return Date.parse(clock()) - wall;
  };
  expect(at(0, 0)).toBeCloseTo(0, -1);
  expect(at(1_000, 1_050)).toBeCloseTo(1_000, -1);
  // The machine was suspended for an hour.
  expect(at(2_000, 3_602_000)).toBeCloseTo(3_602_000, -1);
  expect(at(3_000, 3_603_010)).toBeCloseTo(3_603_000, -1);
});
