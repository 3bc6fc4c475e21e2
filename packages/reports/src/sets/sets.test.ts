import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import { type Expression, parseExpression } from '../definition/expression.ts';
import { atomsOf, possibleAtoms, unionWeights } from './atoms.ts';
import { chooseUnions } from './chooseUnions.ts';
import { Span } from './span.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

function generator(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function expression(next: (below: number) => number, segments: number, depth: number): Expression {
  if (depth === 0 || next(4) === 0) return { name: NAMES[next(segments)]! };
  const operator = (['|', '&', '-'] as const)[next(3)]!;
  return {
    operator,
    left: expression(next, segments, depth - 1),
    right: expression(next, segments, depth - 1),
  };
}

/** Evaluates an expression for one person, independently of atomsOf. */
function isIn(of: Expression, segments: ReadonlySet<string>): boolean {
  if (of.operator === undefined) return segments.has(of.name);
  const [left, right] = [isIn(of.left, segments), isIn(of.right, segments)];
  return of.operator === '|' ? left || right : of.operator === '&' ? left && right : left && !right;
}

describe('sets', () => {
  test('unionWeights of 10,000 random expressions are correct, with no more unions than inclusion–exclusion', () => {
    const next = generator(7);
    let [planned, inclusion] = [0, 0];
    for (let i = 0; i < 10_000; i++) {
      const segments = 1 + next(5);
      const of = expression(next, segments, 4);
      const people = Array.from({ length: 30 }, () => next(1 << segments));
      const reach = (union: number) => people.filter((atom) => atom & union).length;
      const set = atomsOf(of, NAMES.slice(0, segments));
      const weights = unionWeights(set);
      const counted = people.filter((atom) =>
        isIn(of, new Set(NAMES.filter((_, bit) => atom & (1 << bit)))),
      ).length;
      expect([...weights].reduce((sum, [union, weight]) => sum + weight * reach(union), 0)).toBe(counted);
      const most = inclusionExclusion(set).size;
      expect(weights.size).toBeLessThanOrEqual(most);
      [planned, inclusion] = [planned + weights.size, inclusion + most];
    }
    if (isStress)
      console.log(`R1 10,000 expressions: ${planned} unions, ${inclusion} by inclusion–exclusion`);
  });

  test('the planner chooses the fewest unions for up to 4 segments, even if segments contain others', () => {
    const next = generator(11);
    for (let i = 0; i < 300; i++) {
      const segments = 1 + next(i < 250 ? 3 : 4);
      const cells = Array.from(
        { length: segments },
        (_, bit) => (1 << bit) | (next(2) ? next(1 << segments) : 0),
      );
      const atoms = possibleAtoms(segments, cells);
      const wanted = Array.from({ length: 1 + next(2) }, () =>
        atomsOf(expression(next, segments, 3), NAMES.slice(0, segments)),
      );
      const chosen = chooseUnions({ segments, atoms, wanted, costOf: () => 1 });
      expect(isEnough(atoms, wanted, chosen)).toBe(true);
      expect(chosen.length).toBe(smallest(segments, atoms, wanted));
    }
    if (isStress) console.log('R1 300 plans of up to 4 segments: as few unions as exhaustion finds');
  });

  test('of two unions with the same people, the planner chooses the one that costs nothing', () => {
    // The second segment contains the first, so a | b and b are the same people.
    const atoms = possibleAtoms(2, [0b11, 0b10]);
    const wanted = [atomsOf(parseExpression('a | b'), ['a', 'b'])];
    expect(chooseUnions({ segments: 2, atoms, wanted, costOf: (union) => (union === 0b11 ? 0 : 1) })).toEqual(
      [0b11],
    );
    expect(chooseUnions({ segments: 2, atoms, wanted, costOf: (union) => (union === 0b10 ? 0 : 1) })).toEqual(
      [0b10],
    );
  });
});

/**
 * Returns the unions in the inclusion-exclusion formulas of the set's atoms. Includes a union even if its terms in
 * different formulas cancel out.
 */
function inclusionExclusion(set: Uint8Array): Set<number> {
  const all = set.length - 1;
  const unions = new Set<number>();
  for (let atom = 1; atom <= all; atom++) {
    if (!set[atom]) continue;
    for (let union = 1; union <= all; union++)
      if (((all ^ atom) & ~union & all) === 0 || union === (all ^ atom)) unions.add(union);
  }
  return unions;
}

function isEnough(
  atoms: readonly number[],
  wanted: readonly Uint8Array[],
  unions: readonly number[],
): boolean {
  const span = new Span(unions.map((union) => atoms.map((atom) => (atom & union ? 1 : 0))));
  return wanted.every((set) => span.has(atoms.map((atom) => set[atom]!)));
}

function smallest(segments: number, atoms: readonly number[], wanted: readonly Uint8Array[]): number {
  const all = Array.from({ length: (1 << segments) - 1 }, (_, i) => i + 1);
  for (let size = 0; size <= all.length; size++) {
    if (selections(all, size).some((unions) => isEnough(atoms, wanted, unions))) return size;
  }
  throw new Error('unreachable');
}

function selections(of: readonly number[], size: number): number[][] {
  if (size === 0) return [[]];
  return of.flatMap((first, i) => selections(of.slice(i + 1), size - 1).map((rest) => [first, ...rest]));
}
