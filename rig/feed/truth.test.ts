import type { Change } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { hasLeap, mistakeIn, type Truth } from './truth.ts';

const NAME = 'dataProviders/a/requisitions/1';
const truth: Truth = new Map([
  [
    NAME,
    [
      { version: 1, state: 'UNFULFILLED' },
      { version: 2, state: 'FULFILLED' },
    ],
  ],
]);
const time = '2026-01-01T00:00:00.000000Z';
const first: Change = { name: NAME, kind: 'REQUISITION', state: 'UNFULFILLED', version: 1, time };
const second: Change = { ...first, state: 'FULFILLED', version: 2 };

it('mistakeIn() accepts every version once and in order', () => {
  expect(mistakeIn([first, second], truth)).toBeUndefined();
});

it.each([
  ['a gap at the beginning', [second], /^version 2 .* instead of 1/],
  ['a gap at the end', [first], /^1 of 2 versions/],
  ['a repetition', [first, first, second], /^version 1 .* instead of 2/],
  ['a repetition of the last version', [first, second, second], /after its last one/],
  ['a wrong order', [second, first], /^version 2 .* instead of 1/],
  ['a wrong state', [first, { ...second, state: 'REFUSED' }], /\(REFUSED\) .* instead of 2 \(FULFILLED\)/],
  [
    'a change of another party',
    [first, second, { ...first, name: 'dataProviders/b/requisitions/2' }],
    /not the party's/,
  ],
])('mistakeIn() reports %s', (_, seen, mistake) => {
  expect(mistakeIn(seen as Change[], truth)).toMatch(mistake);
});

it('hasLeap() finds a version that is missing, repeated or too early without knowing the truth', () => {
  expect(hasLeap([first, { ...first, name: 'dataProviders/a/requisitions/2' }, second])).toBe(false);
  for (const seen of [[second], [first, first], [first, { ...second, version: 3 }]]) {
    expect(hasLeap(seen)).toBe(true);
  }
});
