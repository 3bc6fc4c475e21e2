import { expect, test } from 'vitest';
import { MAX_VID } from './population.ts';
import { canonicalRanges, populationBytes, populationSize } from './vidRanges.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('canonicalRanges sorts ranges, and joins adjacent ones', () => {
  const given = [
    { start: 21, end: 30 },
    { start: 1, end: 10 },
    { start: 11, end: 12 },
    { start: MAX_VID, end: MAX_VID },
  ];
  const canonical = [
    { start: 1, end: 12 },
    { start: 21, end: 30 },
    { start: MAX_VID, end: MAX_VID },
  ];
  expect(canonicalRanges(given)).toEqual(canonical);
  expect(given[1]).toEqual({ start: 1, end: 10 });
  expect(populationSize(given)).toBe(23);
  expect(populationSize(canonical)).toBe(23);
});

test('populationBytes writes two big-endian uint32 per range, the same for equal sets of VIDs', () => {
  expect(hex(populationBytes([{ start: 1, end: MAX_VID }]))).toBe('000000017ffffffe');
  const whole = populationBytes([{ start: 5, end: 300 }]);
  expect(hex(whole)).toBe('000000050000012c');
  expect(
    populationBytes([
      { start: 100, end: 300 },
      { start: 5, end: 99 },
    ]),
  ).toEqual(whole);
});

test.each([
  [
    [
      [1, 10],
      [10, 20],
    ],
    '1-10 and 10-20',
  ],
  [
    [
      [5, 6],
      [1, 10],
    ],
    '1-10 and 5-6',
  ],
  [
    [
      [1, 2],
      [3, 4],
      [2, 2],
    ],
    '1-2 and 2-2',
  ],
  [[[2, 1]], '2-1'],
])('populationBytes rejects %j with an error that names the ranges', (ranges, named) => {
  expect(() => populationBytes(ranges.map(([start, end]) => ({ start: start!, end: end! })))).toThrow(named);
});
