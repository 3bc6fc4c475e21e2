import { expect, it } from 'vitest';
import { hoursBefore, strictlyAfter } from './time.ts';

it.each([
  ['now, if it is later', '2026-01-01T00:00:00.000005Z', '2026-01-01T00:00:00.000004Z', '000005Z'],
  ['a microsecond later, if the clock has not advanced', '2026-01-01T00:00:00.000004Z', undefined, '000005Z'],
  ['a microsecond later, if the clock went back', '1999-01-01T00:00:00.000000Z', undefined, '000005Z'],
])('strictlyAfter returns %s', (_title, now, previous = '2026-01-01T00:00:00.000004Z', end) => {
  expect(strictlyAfter(now, previous)).toBe(`2026-01-01T00:00:00.${end}`);
});

it.each([
  ['2026-01-01T00:00:00.099999Z', '2026-01-01T00:00:00.100000Z'],
  ['2026-01-01T00:00:00.999998Z', '2026-01-01T00:00:00.999999Z'],
  ['2026-01-01T00:00:00.999999Z', '2026-01-01T00:00:01.000000Z'],
  ['2026-12-31T23:59:59.999999Z', '2027-01-01T00:00:00.000000Z'],
])('the next microsecond after %s is %s', (previous, next) => {
  expect(strictlyAfter(previous, previous)).toBe(next);
});

it('hoursBefore subtracts hours, but returns no time before 1970', () => {
  expect(hoursBefore('2026-01-02T00:00:00.000000Z', 24)).toBe('2026-01-01T00:00:00.000000Z');
  expect(hoursBefore('2026-01-02T00:00:00.000000Z', 1e12)).toBe('1970-01-01T00:00:00.000000Z');
});
