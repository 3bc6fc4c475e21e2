import { createHash } from 'node:crypto';
import { MAX_VID, type PopulationInput, type VidRange } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import {
  isAscending,
  newPopulation,
  noLongerDefault,
  requireFreeModelLines,
  updatePopulation,
} from './population.ts';

const NOW = '2026-01-01T00:00:00.000000Z';
const LATER = '2026-01-01T00:00:01.000000Z';

const ranges = (...all: [number, number][]): VidRange[] => all.map(([start, end]) => ({ start, end }));
const make = (vidRanges: VidRange[], more: Partial<PopulationInput> = {}) =>
  newPopulation('p', { vidRanges, ...more }, NOW);
const sha256 = (hex: string) => createHash('sha256').update(Buffer.from(hex, 'hex')).digest();

const invalid = (...violations: [field: string, description: string][]) =>
  expect.objectContaining({
    reason: 'INVALID_FIELD_VALUE',
    violations: violations.map(([field, description]) => ({ field, description })),
  });

describe('a population', () => {
  it('has sorted ranges, their size, and a SHA-256 fingerprint of the ranges', () => {
    expect(make(ranges([21, 30], [1, 10]), { displayName: 'People', modelLines: ['b', 'a'] })).toEqual({
      id: 'p',
      displayName: 'People',
      vidRanges: ranges([1, 10], [21, 30]),
      subpopulations: [],
      size: 20,
      fingerprint: sha256('000000010000000a000000150000001e'),
      modelLines: ['b', 'a'],
      isDefault: false,
      version: 1,
      createTime: NOW,
      updateTime: NOW,
    });
    expect(make(ranges([1, MAX_VID]), { default: true })).toMatchObject({
      displayName: '',
      size: MAX_VID,
      modelLines: [],
      isDefault: true,
    });
  });

  it('has the same fingerprint if its ranges are split and reordered', () => {
    const { fingerprint } = make(ranges([1, 30]));
    expect(make(ranges([11, 30], [1, 10])).fingerprint).toEqual(fingerprint);
    expect(make(ranges([1, 31])).fingerprint).not.toEqual(fingerprint);
  });

  it.each<[string, VidRange[], [string, string][]]>([
    ['reversed', ranges([2, 1]), [['vidRanges[0].end', 'must not be before start']]],
    ['identical', ranges([1, 1], [1, 1]), [['vidRanges[1]', 'overlaps vidRanges[0]']]],
    ['overlapping in one VID', ranges([10, 20], [1, 10]), [['vidRanges[0]', 'overlaps vidRanges[1]']]],
    [
      'inside another range',
      ranges([1, 100], [20, 30], [40, 50]),
      [
        ['vidRanges[1]', 'overlaps vidRanges[0]'],
        ['vidRanges[2]', 'overlaps vidRanges[0]'],
      ],
    ],
  ])('rejects ranges that are %s', (_, vidRanges, violations) => {
    expect(() => make(vidRanges)).toThrow(invalid(...violations));
  });

  it('reports at most 50 invalid ranges', () => {
    const vidRanges = ranges(...Array.from({ length: 1000 }, () => [7, 7] as [number, number]));
    expect(() => make(vidRanges)).toThrow(/\(and 49 more\)/);
  });

  it('rejects a duplicate model line', () => {
    const modelLines = ['a', 'b', 'a'];
    const refused = invalid(['modelLines[2]', 'repeats an earlier one']);
    expect(() => make(ranges([1, 2]), { modelLines })).toThrow(refused);
    expect(() => updatePopulation(make(ranges([1, 2])), { modelLines }, LATER)).toThrow(refused);
  });

  it('keeps the fields that an update omits', () => {
    const before = make(ranges([1, 2]), { displayName: 'A', modelLines: ['a'], default: true });
    const next = { ...before, version: 2, updateTime: LATER };
    expect(updatePopulation(before, {}, LATER)).toEqual(next);
    expect(updatePopulation(before, { displayName: '', modelLines: [], default: false }, LATER)).toEqual({
      ...next,
      displayName: '',
      modelLines: [],
      isDefault: false,
    });
    expect(noLongerDefault(before, NOW)).toMatchObject({
      isDefault: false,
      version: 2,
      updateTime: '2026-01-01T00:00:00.000001Z',
    });
  });

  it('rejects an update that changes its ranges, but accepts the same ranges', () => {
    const before = make(ranges([1, 10], [21, 30]));
    const refused = invalid([
      'vidRanges',
      'are not those of the population, which never change: create another population',
    ]);
    expect(updatePopulation(before, { vidRanges: ranges([21, 30], [1, 10]) }, LATER).version).toBe(2);
    for (const other of [ranges([1, 10]), ranges([1, 10], [21, 31]), ranges([1, 11], [21, 30])]) {
      expect(() => updatePopulation(before, { vidRanges: other }, LATER)).toThrow(refused);
    }
  });

  it('rejects a model line of another population', () => {
    const population = make(ranges([1, 2]), { modelLines: ['a', 'b', 'c'] });
    expect(() => requireFreeModelLines(population, [])).not.toThrow();
    expect(() => requireFreeModelLines(population, [{ modelLine: 'b', population: 'q' }])).toThrow(
      expect.objectContaining({
        reason: 'MODEL_LINE_TAKEN',
        metadata: { existing: 'populations/q' },
        violations: [{ field: 'modelLines[1]', description: 'belongs to populations/q' }],
      }),
    );
  });
});

it.each<[boolean, VidRange[]]>([
  [true, ranges([1, 1], [2, 2])],
  [true, ranges([5, 9], [11, 20])],
  [false, ranges([1, 5], [5, 9])],
  [false, ranges([5, 9], [1, 2])],
  [false, ranges([2, 1])],
])('isAscending returns %s for %j', (expected, all) => {
  expect(isAscending(all)).toBe(expected);
});

describe('subpopulations', () => {
  const age = (value: string, ...vidRanges: VidRange[]) => ({
    attributes: [{ name: 'age', value }],
    vidRanges,
  });
  const young = age('18-34', ...ranges([6, 10], [1, 3]));
  const old = age('55+', ...ranges([11, 30]));

  it('keep their order, have sorted ranges, and cannot be changed', () => {
    const made = make(ranges([1, 20], [21, 40]), { subpopulations: [young, old] });
    const stored = [age('18-34', ...ranges([1, 3], [6, 10])), old];
    expect(made.subpopulations).toEqual(stored);
    expect(made.fingerprint).toEqual(make(ranges([1, 40])).fingerprint);
    expect(updatePopulation(made, { subpopulations: [young, old] }, LATER).subpopulations).toEqual(stored);
    for (const subpopulations of [[], [young], [old, young], [young, age('55', ...old.vidRanges)]]) {
      expect(() => updatePopulation(made, { subpopulations }, LATER)).toThrow(
        invalid([
          'subpopulations',
          'are not those of the population, which never change: create another population',
        ]),
      );
    }
  });

  it.each<[string, PopulationInput['subpopulations'], [string, string][]]>([
    [
      'overlap',
      [young, age('55+', ...ranges([10, 12]))],
      [['subpopulations[1].vidRanges[0]', 'overlaps subpopulations[0].vidRanges[0]']],
    ],
    [
      'are outside the population',
      [age('55+', ...ranges([35, 41]))],
      [['subpopulations[0].vidRanges[0]', 'is not within vidRanges']],
    ],
    [
      'span a gap in the population',
      [age('55+', ...ranges([30, 36]))],
      [['subpopulations[0].vidRanges[0]', 'is not within vidRanges']],
    ],
    [
      'end before they start',
      [age('55+', ...ranges([9, 8]))],
      [['subpopulations[0].vidRanges[0].end', 'must not be before start']],
    ],
    [
      'have a duplicate attribute',
      [{ ...old, attributes: [...old.attributes, { name: 'age', value: '56' }] }],
      [['subpopulations[0].attributes[1].name', 'repeats an earlier one']],
    ],
  ])('are rejected when they %s', (_, subpopulations, violations) => {
    expect(() => make(ranges([1, 32], [35, 40]), { subpopulations: subpopulations! })).toThrow(
      invalid(...violations),
    );
  });
});
