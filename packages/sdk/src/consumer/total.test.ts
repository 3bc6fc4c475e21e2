import { estimate } from '@measurement-exchange/mpc';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { totalOf } from './total.ts';

const impressions = (value: number, variance?: number) => ({ impressions: estimate(value, variance) });
const reach = (value: number) => ({ reach: estimate(value, 8) });

it('adds up impressions and durations with their variances', () => {
  const total = totalOf(
    [
      { ...impressions(100, 9), watchDurationSeconds: estimate(1.5, 1) },
      { ...impressions(250, 16), watchDurationSeconds: estimate(2, 3) },
    ],
    1,
  );
  expect(total).toEqual({ impressions: estimate(350, 25), watchDurationSeconds: estimate(3.5, 4) });
});

it('treats sampling errors as correlated, since every provider samples the same people', () => {
  expect(totalOf([impressions(100, 9), impressions(250, 16)], 0.5).impressions).toEqual(estimate(350, 49));
});

it('returns an infinite variance for a sum with a part of unknown variance', () => {
  const { impressions: sum } = totalOf([impressions(100, 9), impressions(250)], 1);
  expect(sum).toMatchObject({ value: 350, variance: Number.POSITIVE_INFINITY });
});

it('returns bounds of the reach of several providers, and a note that explains why', () => {
  const { reach: bounds } = totalOf([reach(100), reach(300), reach(50)], 1);
  expect(bounds!.bounds).toEqual([300, 450]);
  expect(bounds!.note).toMatch(/between the largest .* and their sum/);
});

it('returns the reach of a single provider unchanged', () => {
  expect(totalOf([reach(100)], 1).reach).toEqual({
    bounds: [100, 100],
    note: expect.stringMatching(/^One /),
  });
});

it('adds up neither populations nor frequencies', () => {
  const population = { population: estimate(1000, 0) };
  expect(totalOf([population, population], 1)).toEqual({});
  const frequency = [
    { frequency: 1, share: estimate(1, 0, 1), count: estimate(5, 0), atLeast: estimate(5, 0) },
  ];
  expect(Object.keys(totalOf([{ ...reach(5), frequency }], 1))).toEqual(['reach']);
});

it('returns bounds that contain the union of any audiences', () => {
  const audience = fc.uniqueArray(fc.nat(30), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(audience, { minLength: 1, maxLength: 5 }), (audiences) => {
      const union = new Set(audiences.flat()).size;
      const [low, high] = totalOf(
        audiences.map((people) => reach(people.length)),
        1,
      ).reach!.bounds;
      expect(low).toBeLessThanOrEqual(union);
      expect(high).toBeGreaterThanOrEqual(union);
    }),
  );
});
