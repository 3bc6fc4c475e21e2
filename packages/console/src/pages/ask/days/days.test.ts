import { expect, it } from 'vitest';
import { addMonths, countOf, intervalOf, movedDay, rangeOf, rangeOfInterval, weeksOf } from './days.ts';
import { defaultRange, lastDays, lastMonth, recordedOn } from './recorded.ts';

const NOW = new Date('2026-11-18T09:30:00Z');

it('counts both ends of a range, and orders them', () => {
  expect(rangeOf('2026-10-28', '2026-10-01')).toEqual({ from: '2026-10-01', until: '2026-10-28' });
  expect(countOf({ from: '2026-10-01', until: '2026-10-28' })).toBe(28);
});

it('asks for whole days, and reads them back', () => {
  const days = { from: '2026-10-31', until: '2026-10-31' };
  const interval = intervalOf(days);
  expect(interval).toEqual({ start: '2026-10-31T00:00:00Z', end: '2026-11-01T00:00:00Z' });
  expect(rangeOfInterval(interval)).toEqual(days);
  expect(rangeOfInterval({ start: '2026-10-01T12:00:00Z', end: '2026-10-02T00:00:01Z' })).toEqual({
    from: '2026-10-01',
    until: '2026-10-02',
  });
});

it('lays out a month in weeks from Monday to Sunday', () => {
  const weeks = weeksOf('2026-11-18');
  expect(weeks[0]).toEqual([...Array(6).fill(undefined), '2026-11-01']);
  expect(weeks.at(-1)![0]).toBe('2026-11-30');
  expect(weeks.flat().filter(Boolean)).toHaveLength(30);
});

it.each([
  ['ArrowLeft', false, '2026-03-30'],
  ['ArrowDown', false, '2026-04-07'],
  ['Home', false, '2026-03-30'],
  ['End', false, '2026-04-05'],
  ['PageUp', false, '2026-02-28'],
  ['PageDown', true, '2027-03-31'],
])('moves with %s (shift: %s) from a Tuesday to %s', (key, shift, expected) => {
  expect(movedDay('2026-03-31', key, shift)).toBe(expected);
});

it('does not move with other keys', () => expect(movedDay('2026-03-31', 'a')).toBeUndefined());

it('keeps the day of the month if the other month has it', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
  expect(addMonths('2026-12-15', 1)).toBe('2027-01-15');
});

it('says how much of a day is recorded', () => {
  const october = { startTime: '2026-10-01T00:00:00Z', endTime: '2026-10-29T00:00:00Z' };
  const late = { startTime: '2026-10-10T12:00:00Z' };
  expect(recordedOn('2026-10-28', [october], NOW)).toBe('all');
  expect(recordedOn('2026-10-29', [october], NOW)).toBe('none');
  expect(recordedOn('2026-10-10', [late], NOW)).toBe('part');
  expect(recordedOn('2026-10-05', [october, late], NOW)).toBe('part');
  expect(recordedOn('2026-11-18', [late], NOW)).toBe('part');
  expect(recordedOn('2026-11-19', [late], NOW)).toBe('none');
  expect(recordedOn('2026-10-05', [undefined], NOW)).toBe('unknown');
});

it('starts with the days that all event groups have', () => {
  const october = { startTime: '2026-10-01T00:00:00Z', endTime: '2026-10-29T00:00:00Z' };
  const late = { startTime: '2026-10-10T12:00:00Z' };
  expect(defaultRange([october, late, undefined], NOW)).toEqual({ from: '2026-10-11', until: '2026-10-28' });
  expect(defaultRange([october, { startTime: '2026-11-01T00:00:00Z' }], NOW)).toEqual({
    from: '2026-10-01',
    until: '2026-11-17',
  });
  expect(defaultRange([], NOW)).toEqual(lastDays(28, NOW));
  expect(countOf(defaultRange([{ startTime: '2020-01-01T00:00:00Z' }], NOW))).toBe(92);
});

it('knows the last month', () => {
  expect(lastMonth(NOW)).toEqual({ from: '2026-10-01', until: '2026-10-31' });
});
