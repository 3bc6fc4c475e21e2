import { expect, it } from 'vitest';
import { MAX_VID } from './codecs/population.ts';
import { populationBytes } from './population.ts';

const hex = (...ranges: [number, number][]) =>
  Buffer.from(populationBytes(ranges.map(([start, end]) => ({ start, end })))).toString('hex');

it('each range is two big-endian uint32, in ascending order', () => {
  expect(hex([1, 10])).toBe('000000010000000a');
  expect(hex([20, 30], [1, 10])).toBe('000000010000000a000000140000001e');
  expect(hex([1, MAX_VID])).toBe('000000017ffffffe');
});

it('the same people have the same bytes, however their ranges are written', () => {
  const whole = hex([1, 30]);
  expect(hex([11, 30], [1, 10])).toBe(whole);
  expect(hex([1, 1], [2, 2], [3, 30])).toBe(whole);
  expect(hex([1, 9], [11, 30])).not.toBe(whole);
});

it('leaves the ranges it is given as they are', () => {
  const ranges = [
    { start: 11, end: 20 },
    { start: 1, end: 10 },
  ];
  populationBytes(ranges);
  expect(ranges).toEqual([
    { start: 11, end: 20 },
    { start: 1, end: 10 },
  ]);
});
