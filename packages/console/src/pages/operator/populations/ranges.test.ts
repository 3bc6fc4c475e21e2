import { expect, it } from 'vitest';
import { parseRanges } from './ranges.ts';

it('parseRanges accepts ranges in any order, and sorts them', () => {
  expect(parseRanges('2000-3000\n 1 – 1000, ')).toEqual([
    { start: 1, end: 1000 },
    { start: 2000, end: 3000 },
  ]);
});

it.each([
  ['', /at least one/],
  ['1-1000, abc', /“abc” is not a range/],
  ['5-1', /ends before it starts/],
  ['0-5', /not within/],
  ['1-2147483647', /not within/],
  ['1-10\n10-20', /1-10 and 10-20 overlap/],
])('parseRanges rejects %j', (text, words) => {
  expect(() => parseRanges(text)).toThrow(words);
});
