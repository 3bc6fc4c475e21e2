import { expect, it } from 'vitest';
import { rangesOutside } from './vidRanges.ts';

const ranges = (...all: [number, number][]) => all.map(([start, end]) => ({ start, end }));

it.each([
  ['nothing taken', ranges([1, 9]), [], ranges([1, 9])],
  ['all taken', ranges([1, 9]), ranges([1, 4], [5, 9]), []],
  ['the middle taken', ranges([1, 9]), ranges([4, 5]), ranges([1, 3], [6, 9])],
  ['the ends taken', ranges([1, 9]), ranges([9, 9], [1, 1]), ranges([2, 8])],
  ['taken across ranges that touch', ranges([1, 4], [5, 9]), ranges([3, 6]), ranges([1, 2], [7, 9])],
  ['some ranges untouched', ranges([20, 30], [1, 9]), ranges([25, 30]), ranges([1, 9], [20, 24])],
])('returns the VIDs outside of the taken ranges: %s', (_, all, taken, outside) => {
  expect(rangesOutside(all, taken)).toEqual(outside);
});

it('returns exactly the VIDs that are in no taken range, for random ranges', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % below;
  };
  const people = (all: { start: number; end: number }[]) =>
    all.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i));
  for (let round = 0; round < 200; round++) {
    const kinds = Array.from({ length: 40 }, () => random(3));
    const of = (wanted: number[]) => kinds.flatMap((kind, i) => (wanted.includes(kind) ? [i + 1] : []));
    // Split the VIDs into ranges of random length, so that ranges of one list end inside ranges of the other list.
    const cut = (some: number[]) =>
      some.reduce<{ start: number; end: number }[]>((all, person) => {
        const last = all.at(-1);
        if (last !== undefined && last.end === person - 1 && random(2) === 0) last.end = person;
        else all.push({ start: person, end: person });
        return all;
      }, []);
    const outside = rangesOutside(cut(of([1, 2])), cut(of([2])));
    expect(people(outside)).toEqual(of([1]));
  }
});
