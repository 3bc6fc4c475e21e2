import type { MeasurementResult } from '@measurement-exchange/sdk';
import { expect, it } from 'vitest';
import { around, intervalText } from '../../format.ts';
import { answerOf, figureOf, listOf } from './answers.ts';

const estimate = { value: 100, variance: 1, standardDeviation: 1, interval: [98, 102] as [number, number] };
const STREAMLY = { name: 'dataProviders/streamly' };
const CHIRPER = { name: 'dataProviders/chirper' };

function answer(dataProviders: MeasurementResult['dataProviders'], total: MeasurementResult['total']) {
  const found = answerOf({ measurement: 'm', type: 'reach', dataProviders, total });
  return found && [found.label, found.unit.text(found.figure.value)];
}

it('answerOf returns the label and the figure of each kind of result', () => {
  const deduplicated = { reach: estimate, aggregator: 'duchies/gamma', workers: [] };
  expect(answer([STREAMLY, CHIRPER], { deduplicated })).toEqual([
    'People reached by streamly and chirper, each counted once',
    '100',
  ]);
  expect(answer([{ ...STREAMLY, reach: estimate }], {})).toEqual(['People reached by streamly', '100']);
  expect(answer([STREAMLY], { impressions: estimate })).toEqual(['Impressions at streamly', '100']);
  const hours = { ...estimate, value: 720_000, interval: [715_000, 725_000] as [number, number] };
  expect(answer([STREAMLY], { watchDurationSeconds: hours })).toEqual(['Hours watched at streamly', '200']);
  expect(answer([STREAMLY], { watchDurationSeconds: estimate })).toEqual([
    'Seconds watched at streamly',
    '100',
  ]);
  expect(answer([{ ...STREAMLY, population: estimate }], {})?.[1]).toBe('100');
});

it('answerOf returns undefined if several publishers counted alone', () => {
  const reach = { bounds: [100, 200] as [number, number], note: '' };
  const alone = [STREAMLY, CHIRPER].map((each) => ({ ...each, reach: estimate }));
  expect(answer(alone, { reach })).toBeUndefined();
});

it('figureOf reads an interval end of null as infinity', () => {
  const json = JSON.parse(JSON.stringify({ value: 5, interval: [0, Number.POSITIVE_INFINITY] }));
  expect(figureOf(json)).toEqual({ value: 5, interval: [0, Number.POSITIVE_INFINITY] });
});

it('listOf joins and shortens names, and removes bidirectional control characters', () => {
  expect(listOf([])).toBe('');
  expect(listOf(['a', 'b', 'c'])).toBe('a, b and c');
  expect(listOf(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d and 2 others');
  expect(listOf(['\u202ea', 'x'.repeat(100)])).toBe(`a and ${'x'.repeat(60)}…`);
});

it('around and intervalText format the uncertainty of a figure', () => {
  const unit = { text: String, margin: String };
  expect(around(100, [90, 110], unit)).toBe('± 10');
  expect(around(42, [0, 407], unit)).toBe('0–407');
  expect(around(42, [42, 42], unit)).toBe('exact');
  expect(around(42, [0, Number.POSITIVE_INFINITY], unit)).toBe('error unknown');
  expect(intervalText([5, Number.POSITIVE_INFINITY], unit)).toBe('5 or more');
});
