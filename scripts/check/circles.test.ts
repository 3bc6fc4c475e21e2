import { expect, it } from 'vitest';
import { circles } from './circles.ts';

const found = (imports: Record<string, string[]>) => circles(new Map(Object.entries(imports)));

it('finds nothing where imports lead one way, also to one file by two ways', () => {
  expect(found({ main: ['http', 'sql'], http: ['domain'], sql: ['domain'], domain: [] })).toEqual([]);
});

it('names the files of a circle in the order of their imports', () => {
  expect(found({ main: ['a'], a: ['b'], b: ['c'], c: ['a', 'main2'] })).toEqual(['a → b → c → a']);
});

it('finds every group of files that import each other, and a file that imports itself', () => {
  expect(found({ a: ['b'], b: ['a'], c: ['d', 'a'], d: ['c'], e: ['e'] })).toEqual([
    'a → b → a',
    'c → d → c',
    'e → e',
  ]);
});

it('finds a circle behind files that were visited before', () => {
  expect(found({ a: ['b', 'c'], b: [], c: ['b', 'd'], d: ['c'] })).toEqual(['c → d → c']);
});
