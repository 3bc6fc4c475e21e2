import { expect, it } from 'vitest';
import { lastUpdate, merged, type Row } from './rows.ts';

const row = (id: number, more: Partial<Row> = {}): Row => ({
  name: `measurementConsumers/a/measurements/${id}`,
  state: 'COMPUTING',
  failure: undefined,
  type: 'REACH',
  publishers: [],
  isComputed: false,
  reference: undefined,
  createTime: `2026-01-0${id}T00:00:00Z`,
  updateTime: `2026-01-0${id}T00:00:00Z`,
  isRemoved: false,
  ...more,
});
const changes = (...rows: Row[]) => new Map(rows.map((each) => [each.name, each]));
const ids = (rows: Row[]) => rows.map(({ name }) => Number(name.at(-1)));

const LOADED = [row(5), row(4), row(3)];

it('merged replaces a row by a later version, but not by an older one', () => {
  const later = row(4, { state: 'SUCCEEDED', updateTime: '2026-02-01T00:00:00Z' });
  expect(merged(LOADED, changes(later), {}, false)[1]!.state).toBe('SUCCEEDED');
  const earlier = row(4, { state: 'FAILED', updateTime: '2025-01-01T00:00:00Z' });
  expect(merged(LOADED, changes(earlier), {}, false)[1]!.state).toBe('COMPUTING');
});

it('merged puts a new row first, and leaves out a row of a page that is not loaded', () => {
  expect(ids(merged(LOADED, changes(row(6), row(1)), {}, false))).toEqual([6, 5, 4, 3]);
  expect(ids(merged(LOADED, changes(row(1)), {}, true))).toEqual([5, 4, 3, 1]);
});

it('merged removes rows that no longer match the filter, and inserts rows that match now', () => {
  const done = row(4, { state: 'SUCCEEDED', updateTime: '2026-02-01T00:00:00Z' });
  expect(ids(merged(LOADED, changes(done), { states: ['COMPUTING'] }, false))).toEqual([5, 3]);
  const only = [row(5), row(3)];
  expect(ids(merged(only, changes(row(4)), { states: ['COMPUTING'] }, false))).toEqual([5, 4, 3]);
  expect(ids(merged(LOADED, changes(row(6)), { reference: 'x' }, true))).toEqual([]);
});

it('lastUpdate returns the latest update time, or an empty string without rows', () => {
  expect(lastUpdate([row(2), row(7), row(1)])).toBe('2026-01-07T00:00:00Z');
  expect(lastUpdate([])).toBe('');
});
