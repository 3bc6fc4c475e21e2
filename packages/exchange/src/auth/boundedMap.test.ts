import { expect, it } from 'vitest';
import { BoundedMap } from './boundedMap.ts';

it('gives a value until its time is over', () => {
  const map = new BoundedMap<string>(2);
  map.set('a', 'A', 100);
  expect(map.get('a', 99)).toBe('A');
  expect(map.get('a', 100)).toBeUndefined();
});

it('lets the oldest entry go when it is full, and a renewed one counts as new', () => {
  const map = new BoundedMap<string>(2);
  map.set('a', 'A', 100);
  map.set('b', 'B', 100);
  map.set('b', 'B2', 100);
  expect([map.get('a', 0), map.get('b', 0)]).toEqual(['A', 'B2']);
  map.set('a', 'A2', 100);
  map.set('c', 'C', 100);
  expect([map.get('a', 0), map.get('b', 0), map.get('c', 0)]).toEqual(['A2', undefined, 'C']);
});

it('drops a key only while it holds that value', () => {
  const map = new BoundedMap<string>(2);
  map.set('a', 'new', 100);
  map.drop('a', 'old');
  expect(map.get('a', 0)).toBe('new');
  map.drop('a', 'new');
  expect(map.get('a', 0)).toBeUndefined();
  map.drop('a', 'new');
});
