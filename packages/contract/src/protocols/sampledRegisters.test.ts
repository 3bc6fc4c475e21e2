import { describe, expect, test } from 'vitest';
import { registerOf, sampledRegisters } from './sampledRegisters.ts';

const f = Math.fround;

/** Computes the sampled indexes by the published rule, in register order. An interval beyond the end wraps around. */
function publicRule(size: number, start: number, width: number): number[] {
  const first = Math.trunc(f(f(size) * f(start)));
  const last = Math.trunc(f(f(size) * f(f(start) + f(width)))) - 1;
  const indexes: number[] = [];
  for (let index = first; index <= Math.min(last, size - 1); index++) indexes.push(index);
  if (last >= size) for (let index = 0; index <= last - size; index++) indexes.push(index);
  return indexes;
}

describe('the registers of an interval', () => {
  test.each([
    [10, 0, 1],
    [10, 0.3, 0.4],
    [10, 0.8, 0.5],
    [10, 1, 0.25],
    [10, 0.5, 1],
    [997, 0.1, 0.9],
    [997, 0.9, 0.2],
    [1000, 1 / 3, 1 / 3],
    [3, 0.1, 0.1],
    [1, 0, 1],
  ])('follow the public rule for %d VIDs from %d with width %d', (size, start, width) => {
    const sample = sampledRegisters(size, { start, width });
    const indexes = publicRule(size, start, width);
    expect(sample.count).toBe(indexes.length);
    const registers = Array.from({ length: size }, (_, index) => registerOf(sample, index));
    for (let index = 0; index < size; index++) expect(registers[index]).toBe(indexes.indexOf(index));
  });

  test('are distinct for distinct VIDs', () => {
    for (let i = 0; i < 400; i++) {
      const size = 1 + ((i * 7919) % 500);
      const start = ((i * 104_729) % 401) / 400;
      const width = (1 + ((i * 611_953) % 400)) / 400;
      const sample = sampledRegisters(size, { start, width });
      const registers = Array.from({ length: size }, (_, index) => registerOf(sample, index)).filter(
        (r) => r >= 0,
      );
      expect(new Set(registers).size).toBe(registers.length);
      expect(Math.max(-1, ...registers)).toBeLessThan(sample.count);
      expect(Math.abs(sample.count - size * width)).toBeLessThan(1.01);
    }
  });

  test('from 0 with width 1 are all registers', () => {
    for (const size of [1, 1000, 2 ** 24]) {
      expect(sampledRegisters(size, { start: 0, width: 1 })).toEqual({
        first: 0,
        primary: size,
        wrapped: 0,
        count: size,
      });
    }
  });

  test('are computed with the rounding of 32-bit floats', () => {
    // As a 32-bit float, 0.1 is a little more than a tenth, but its product with 10,000,000 is rounded to 1,000,000.
    // The sizes 2^24 + 1 and 2^24 + 3 are not 32-bit floats, so they are rounded as well.
    expect(sampledRegisters(10_000_000, { start: 0.1, width: 0.2 })).toMatchObject({ first: 1_000_000 });
    expect(sampledRegisters(2 ** 24 + 1, { start: 0, width: 1 }).count).toBe(2 ** 24);
    expect(sampledRegisters(2 ** 24 + 3, { start: 0, width: 1 }).count).toBe(2 ** 24 + 4);
  });

  test('cause an error if the start or the width is invalid', () => {
    for (const start of [-0.1, 1.1, Number.NaN]) {
      expect(() => sampledRegisters(10, { start, width: 0.5 })).toThrow(/vidSamplingInterval\.start/);
    }
    for (const width of [0, -0.1, 1.1, Number.NaN]) {
      expect(() => sampledRegisters(10, { start: 0, width })).toThrow(/vidSamplingInterval\.width/);
    }
  });
});
