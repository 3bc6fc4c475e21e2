import { describe, expect, it } from 'vitest';
import { FilterError } from '../filters/errors.ts';
import { openPopulation, type PopulationSpec } from './population.ts';

const SPEC: PopulationSpec = {
  subpopulations: [
    {
      attributes: { gender: 'F', age: 30, tv: true },
      vidRanges: [
        { start: 1, end: 100 },
        { start: 301, end: 310 },
      ],
    },
    { attributes: { gender: 'M', age: 50, tv: false }, vidRanges: [{ start: 101, end: 300 }] },
    {
      attributes: { gender: 'F', age: 70 },
      vidRanges: [{ start: '9007199254740993', end: 9007199254740994n }],
    },
  ],
};

describe('a population', () => {
  it.each([
    [undefined, 312n],
    ['', 312n],
    [`gender == 'F'`, 112n],
    [`gender == 'F' && age < 60`, 110n],
    ['age >= 50', 202n],
    // The last subpopulation has no attribute `tv`, so its people match neither `tv` nor `!tv`. They match `||` if the
    // other operand is true.
    ['tv', 110n],
    ['!tv', 200n],
    ['tv || age > 60', 112n],
    ['false', 0n],
  ])('counts the people who match the filter %s', async (filter, people) => {
    expect(await openPopulation(SPEC).count(filter)).toBe(people);
  });

  it('rejects filters with unknown attributes, and filters that are not a condition', async () => {
    const population = openPopulation(SPEC);
    await expect(population.count('income > 3')).rejects.toMatchObject({
      code: 'FILTER_ATTRIBUTE',
      at: 'population.filter',
    });
    await expect(population.count('age + 1')).rejects.toThrow(FilterError);
    await expect(population.count(`age == 'F'`)).rejects.toThrow(FilterError);
  });

  it('treats an attribute with integers and fractions as doubles', async () => {
    const vidRanges = (start: number) => [{ start, end: start }];
    const population = openPopulation({
      subpopulations: [
        { attributes: { score: 1 }, vidRanges: vidRanges(1) },
        { attributes: { score: 1.5 }, vidRanges: vidRanges(2) },
      ],
    });
    expect(population.attributes).toEqual({ score: 'double' });
    expect(await population.count('score > 1.2')).toBe(1n);
    expect(await population.count('score >= 1.0')).toBe(2n);
  });

  const one = (changes: object) => ({
    subpopulations: [{ vidRanges: [{ start: 1, end: 2 }], attributes: {}, ...changes }],
  });
  it.each([
    ['no subpopulations', {}, 'subpopulations'],
    ['no ranges', one({ vidRanges: 3 }), 'subpopulations[0].vidRanges'],
    [
      'a range that ends before it starts',
      one({ vidRanges: [{ start: 2, end: 1 }] }),
      'subpopulations[0].vidRanges[0].end',
    ],
    ['a VID of 0.5', one({ vidRanges: [{ start: 0.5, end: 1 }] }), 'subpopulations[0].vidRanges[0].start'],
    [
      'ranges that overlap',
      one({
        vidRanges: [
          { start: 5, end: 9 },
          { start: 1, end: 5 },
        ],
      }),
      'overlap',
    ],
    ['an attribute that is a list', one({ attributes: { a: [] } }), 'attribute a'],
    [
      'an attribute of two types',
      {
        subpopulations: [
          ...one({ attributes: { a: 1 } }).subpopulations,
          { vidRanges: [], attributes: { a: 'x' } },
        ],
      },
      'attribute a',
    ],
  ])('is rejected with the name of the invalid field: %s', (_title, spec, message) => {
    expect(() => openPopulation(spec as PopulationSpec)).toThrow(message);
  });
});
