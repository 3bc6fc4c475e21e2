import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costInUnits, type Units } from './amounts.ts';
import { gapsBetween, type Interval, joinIntervals } from './intervals.ts';
import { EVERYBODY, type Slice, SliceSums, sliceText } from './slices.ts';

const interval = (start: number, end: number): Interval => ({ start: BigInt(start), end: BigInt(end) });
const vids = (...ranges: [number, number][]) =>
  sliceText({ vid: ranges.map(([start, end]) => interval(start, end)) });
const cost = (epsilon: number): Units => costInUnits({ epsilon });
const sums = new SliceSums();
const worst = (charged: [string, number][], within?: string) =>
  sums.worst(new Map(charged.map(([slice, epsilon]) => [slice, cost(epsilon)])), within).epsilon;

describe('intervals', () => {
  test('are joined if they overlap or touch, and empty ones are dropped', () => {
    const given = [interval(5, 6), interval(1, 2), interval(3, 3), interval(9, 8), interval(6, 7)];
    expect(joinIntervals(given)).toEqual([interval(1, 3), interval(5, 7)]);
    expect(gapsBetween(given, interval(0, 9))).toEqual([interval(0, 0), interval(4, 4), interval(8, 9)]);
    expect(gapsBetween([], interval(0, 9))).toEqual([interval(0, 9)]);
    expect(gapsBetween([interval(0, 9)], interval(0, 9))).toEqual([]);
  });
});

describe('slices', () => {
  test('disjoint groups cost as much as the most expensive group', () => {
    const groups = Array.from({ length: 12 }, (_, i): [string, number] => [vids([10 * i, 10 * i + 9]), 0.1]);
    expect(worst(groups)).toBe(cost(0.1).epsilon);
    expect(worst([...groups, [EVERYBODY, 0.5]])).toBe(cost(0.6).epsilon);
    expect(worst([...groups, [vids([9, 10]), 0.25]])).toBe(cost(0.35).epsilon);
    expect(worst([...groups, [vids([9, 10]), 0.25]], vids([20, 29]))).toBe(cost(0.1).epsilon);
  });

  test('on different axes are summed, because they can have a person in common', () => {
    const bucket = sliceText({ bucket: [interval(0, 4)] });
    const other = sliceText({ 'vid of another population': [interval(50, 60)] });
    expect(
      worst([
        [vids([1, 9]), 0.1],
        [bucket, 0.2],
        [other, 0.4],
      ]),
    ).toBe(cost(0.7).epsilon);
  });

  test('stay distinct after 1,200 other sets of slices', () => {
    for (let i = 0; i < 1200; i++) {
      const apart: [string, number][] = [
        [vids([2 * i, 2 * i]), 0.1],
        [vids([2 * i + 1, 2 * i + 1]), 0.1],
      ];
      expect(worst(i % 3 === 0 ? apart : [apart[0]!, [vids([2 * i, 2 * i + 1]), 0.1]])).toBe(
        cost(i % 3 === 0 ? 0.1 : 0.2).epsilon,
      );
    }
  });

  test('epsilon, rho and delta each have their own worst-off person', () => {
    const charged = new Map([
      [vids([1, 5]), costInUnits({ epsilon: 0.5, rho: 0.1 })],
      [vids([6, 9]), costInUnits({ epsilon: 0.2, rho: 0.3, delta: 1e-9 })],
    ]);
    expect(sums.worst(charged)).toEqual(costInUnits({ epsilon: 0.5, rho: 0.3, delta: 1e-9 }));
  });

  test('an empty slice counts as everybody, and slices of the same people have the same text', () => {
    expect(sliceText({})).toBe(EVERYBODY);
    expect(sliceText({ vid: [] })).toBe(EVERYBODY);
    expect(sliceText({ vid: [interval(3, 2)], bucket: [interval(0, 1)] })).toBe(EVERYBODY);
    expect(vids([4, 9], [1, 3])).toBe(vids([1, 9]));
    expect(sliceText({ b: [interval(0, 1)], a: [interval(2, 3)] })).toBe(
      sliceText({ a: [interval(2, 3)], b: [interval(0, 1)] }),
    );
  });

  test('the charge of the worst-off person equals a brute-force count over all points', () => {
    const range = fc.tuple(fc.nat(7), fc.nat(7)).map(([a, b]) => interval(Math.min(a, b), Math.max(a, b)));
    const axis = fc.array(range, { minLength: 1, maxLength: 3 });
    const slice = fc.record({ x: axis, y: axis }, { requiredKeys: [] }) as fc.Arbitrary<Slice>;
    const has = (some: Slice, name: string, at: number) =>
      some[name]?.some(({ start, end }) => BigInt(at) >= start && BigInt(at) <= end) ?? true;
    fc.assert(
      fc.property(fc.array(slice, { maxLength: 8 }), (slices) => {
        const charged = new Map<string, Units>();
        const counts: number[] = [];
        for (const [i, each] of slices.entries()) {
          const before = charged.get(sliceText(each))?.epsilon ?? 0n;
          charged.set(sliceText(each), { ...cost(0), epsilon: before + BigInt(2 ** i) });
        }
        for (let x = 0; x < 8; x++) {
          for (let y = 0; y < 8; y++) {
            const own = slices.map((each, i) => (has(each, 'x', x) && has(each, 'y', y) ? 2 ** i : 0));
            counts.push(own.reduce((sum, amount) => sum + amount, 0));
          }
        }
        expect(new SliceSums().worst(charged).epsilon).toBe(BigInt(Math.max(...counts)));
      }),
    );
  });

  test('after 128 slices, further ones are charged to everybody, and again on a second attempt', () => {
    const charged = new Map<string, Units>();
    const wanted = Array.from({ length: 200 }, (_, i) => vids([i, i]));
    const first = wanted.map((slice) => {
      const chosen = sums.chargeable(charged, slice);
      charged.set(chosen, cost(0.1));
      return chosen;
    });
    expect(first.slice(0, 128)).toEqual(wanted.slice(0, 128));
    expect(new Set(first.slice(128))).toEqual(new Set([EVERYBODY]));
    // Check that a second attempt charges the same slices as the first.
    expect(wanted.map((slice) => sums.chargeable(charged, slice))).toEqual(first);
    expect(sums.worst(charged).epsilon).toBe(cost(0.2).epsilon);
  });

  test('slices that would exceed 1,024 combinations are charged to everybody', () => {
    const charged = new Map<string, Units>();
    // Add more slices on two axes than the ledger can tell apart. 32 slices on each axis make 32 × 32 = 1,024
    // combinations, which is the limit.
    for (let i = 0; i < 40; i++) {
      for (const axis of ['a', 'b']) {
        const slice = sliceText({ [axis]: [interval(i, i)] });
        const chosen = sums.chargeable(charged, slice);
        expect(chosen).toBe(i < 32 ? slice : EVERYBODY);
        charged.set(chosen, cost(0.01));
      }
    }
    expect(sums.worst(charged).epsilon).toBe(cost(0.03).epsilon);
  });
});
