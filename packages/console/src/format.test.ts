import { expect, it } from 'vitest';
import { day, fromTo } from './format.ts';

const year = new Date().getUTCFullYear();

it.each([
  [`${year}-10-01`, `${year}-10-28`, 'Oct 1 – 28'],
  [`${year}-09-07`, `${year}-11-01`, 'Sep 7 – Nov 1'],
  [`${year}-10-01`, `${year}-10-01`, 'Oct 1'],
  ['2024-10-01', '2024-10-28', 'Oct 1 – 28, 2024'],
  ['2024-09-07', '2024-11-01', 'Sep 7 – Nov 1, 2024'],
  ['2024-10-01', '2024-10-01', 'Oct 1, 2024'],
  ['2024-10-01', '2025-10-01', 'Oct 1, 2024 – Oct 1, 2025'],
])('fromTo formats %s and %s as %s', (first, last, text) => {
  expect(fromTo(first, last)).toBe(text);
});

it('day leaves out the current year', () => {
  expect(day(`${year}-10-01`)).toBe('Oct 1');
  expect(day('2024-10-01')).toBe('Oct 1, 2024');
});
