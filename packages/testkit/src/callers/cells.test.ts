import { ROUTES, type Route } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { bindingOf, someTargets, targetsOf } from './cells.ts';
import type { Row } from './rights.ts';
import type { Caller } from './world.ts';

const nobody: Caller = { title: 'nobody', token: undefined, error: '401 TOKEN_INVALID' };
const operator: Caller = { title: 'the operator', token: undefined, kind: 'operator' };
const duchy: Caller = { title: 'a duchy', token: undefined, kind: 'duchy', id: 'gamma' };
const row: Row = { may: { duchy: 'any' } };

/**
 * Calls `someTargets` in three turns per target. `times` is how often each target was selected, and `sizes` is the
 * number of selected targets in each turn.
 */
function selections(caller: Caller, binding: string) {
  const route = (ROUTES as readonly Route[]).find((one) => bindingOf(one) === binding)!;
  const all = targetsOf(route);
  const turns = Array.from({ length: 3 * all.length }, (_, turn) => someTargets(row, caller, all, turn));
  return {
    times: all.map((target) => turns.filter((selected) => selected.includes(target)).length),
    sizes: turns.map(({ length }) => length),
  };
}

describe.each([
  ['GET duchies/*', 6],
  ['GET duchies/*/computations', 8],
])('the targets of %s', (binding, length) => {
  it.each([
    ['a caller without rights', nobody, 1, [1, 0, 0]],
    ['the operator without rights', operator, 3, [1, 1, 1]],
    ['a caller with rights', duchy, 6, [2, 2, 2]],
  ])('are all selected in turn, equally often, for %s', (_, caller, times, sizes) => {
    const found = selections(caller, binding);
    expect(found.times).toEqual(Array(length).fill(times));
    expect(found.sizes).toEqual(Array(length).fill(sizes).flat());
  });
});
