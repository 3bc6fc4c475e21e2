import { expect, test } from 'vitest';
import { readOptions, thirdOf } from './options.ts';
import { PLANTED_BUGS } from './planted/bugs.ts';

test('a third of the planted bugs depends on the commit, and the three thirds together are all bugs', () => {
  const commits = Array.from({ length: 30 }, (_, i) => `commit ${i}`);
  const thirds = commits.map((commit) => thirdOf(PLANTED_BUGS, commit));
  for (const third of thirds) {
    expect(third.length).toBeGreaterThan(PLANTED_BUGS.length / 4);
    expect(third.length).toBeLessThan(PLANTED_BUGS.length / 2.4);
  }
  expect(new Set(thirds.flat())).toEqual(new Set(PLANTED_BUGS));
  expect(new Set(thirds.map((third) => third.map(({ name }) => name).join())).size).toBe(3);
});

test('--planted selects all bugs, with a name only that bug, and with --third less than half of them', () => {
  expect(readOptions(['--planted']).planted).toEqual(PLANTED_BUGS);
  expect(readOptions(['--planted', 'read-cache']).planted?.map(({ name }) => name)).toEqual(['read-cache']);
  expect(readOptions(['--planted', '--third']).planted!.length).toBeLessThan(PLANTED_BUGS.length / 2);
  expect(readOptions([]).planted).toBeUndefined();
});
