import { expect, it } from 'vitest';
import { addMonths, countOf, intervalOf, movedDay, rangeOf, rangeOfInterval, weeksOf } from './days.ts';
import { defaultRange, lastDays, lastMonth, recordedOn } from './recorded.ts';

const NOW = new Date('2026-11-18T09:30:00Z');

it('a range is sorted, and its count includes both ends', () => {
  expect(rangeOf('2026-10-28', '2026-10-01')).toEqual({ from: '2026-10-01', until: '2026-10-28' });
  expect(countOf({ from: '2026-10-01', until: '2026-10-28' })).toBe(28);
});

it('intervalOf returns whole days, and rangeOfInterval reverses it', () => {
  const days = { from: '2026-10-31', until: '2026-10-31' };
  const interval = intervalOf(days);
  expect(interval).toEqual({ start: '2026-10-31T00:00:00Z', end: '2026-11-01T00:00:00Z' });
  expect(rangeOfInterval(interval)).toEqual(days);
  expect(rangeOfInterval({ start: '2026-10-01T12:00:00Z', end: '2026-10-02T00:00:01Z' })).toEqual({
    from: '2026-10-01',
    until: '2026-10-02',
  });
});

it('weeksOf lays out a month in weeks from Monday to Sunday', () => {
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
])('movedDay with %s (shift: %s) moves from Tuesday, March 31 to %s', (key, shift, expected) => {
  expect(movedDay('2026-03-31', key, shift)).toBe(expected);
});

it('movedDay returns undefined for other keys', () => expect(movedDay('2026-03-31', 'a')).toBeUndefined());

it('addMonths keeps the day of the month, or returns the last day of a shorter month', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
  expect(addMonths('2026-12-15', 1)).toBe('2027-01-15');
});

it('recordedOn returns all, part, none or unknown for the recorded part of a day', () => {
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

it('defaultRange returns the common days of all event groups, at most 92, or else the last 28', () => {
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

it('lastMonth returns the previous calendar month', () => {
  expect(lastMonth(NOW)).toEqual({ from: '2026-10-01', until: '2026-10-31' });
});
