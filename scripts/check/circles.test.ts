import { expect, it } from 'vitest';
import { circles } from './circles.ts';

const found = (imports: Record<string, string[]>) => circles(new Map(Object.entries(imports)));

it('circles() returns nothing for imports without a circle, even if two paths lead to one file', () => {
  expect(found({ main: ['http', 'sql'], http: ['domain'], sql: ['domain'], domain: [] })).toEqual([]);
});

it('circles() lists the files of a circle in the order of their imports', () => {
  expect(found({ main: ['a'], a: ['b'], b: ['c'], c: ['a', 'main2'] })).toEqual(['a → b → c → a']);
});

it('circles() finds every group of files that import each other, and a file that imports itself', () => {
  expect(found({ a: ['b'], b: ['a'], c: ['d', 'a'], d: ['c'], e: ['e'] })).toEqual([
    'a → b → a',
    'c → d → c',
    'e → e',
  ]);
});

it('circles() finds a circle after files that were already visited', () => {
  expect(found({ a: ['b', 'c'], b: [], c: ['b', 'd'], d: ['c'] })).toEqual(['c → d → c']);
});
