import { expect, it } from 'vitest';
import { scaleAround, scaleBetween, scaleFromZero } from './scale.ts';
import { PEOPLE, SHARE } from './units.ts';

const texts = ({ ticks, step }: ReturnType<typeof scaleBetween>, unit = PEOPLE) =>
  ticks.map((tick) => unit.tick(tick, step));

it.each([
  [[420_731], ['0', '200k', '400k', '600k']],
  [[7], ['0', '2', '4', '6', '8']],
  [[1_709_468], ['0', '500k', '1M', '1.5M', '2M']],
  [[0], ['0', '1', '2', '3', '4']],
])('scaleFromZero has round ticks for %o', (values, expected) => {
  expect(texts(scaleFromZero(values, PEOPLE))).toEqual(expected);
});

it('scaleAround shows all digits of ticks that are close to each other', () => {
  const scale = scaleAround([420_602, 420_731, 420_860], PEOPLE);
  expect(texts(scale)).toEqual(['420,400', '420,600', '420,800', '421,000']);
});

it('the ticks of shares are in percent', () => {
  expect(texts(scaleFromZero([0.262], SHARE), SHARE)).toEqual(['0 %', '10 %', '20 %', '30 %']);
  expect(texts(scaleBetween(0.7, 0.702, SHARE), SHARE)[1]).toBe('70.05 %');
});

it('the ticks of a number of people are integers', () => {
  expect(scaleAround([5], PEOPLE).ticks.every(Number.isInteger)).toBe(true);
});

it('scaleBetween places values in percent, and clamps values beyond its ends', () => {
  const { at } = scaleBetween(0, 100, PEOPLE);
  expect([at(50), at(-5), at(Number.POSITIVE_INFINITY)]).toEqual([50, 0, 100]);
});
