import { solveQP } from 'quadprog';
import { describe, expect, test } from 'vitest';
import type { PeopleGroup } from './people.ts';
import { NOBODY, type Problem } from './problem.ts';
import { solve } from './solve.ts';

function generator(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

/**
 * Returns a problem with a random measured value for each union of the segments, and a random covariance. Each of its
 * unknowns is an atom: the number of people whom one combination of segments reaches and no other segment reaches.
 */
function randomProblem(next: () => number, segments: number): Problem & { atoms: number[][] } {
  const unions = Array.from({ length: (1 << segments) - 1 }, (_, i) => i + 1);
  const atoms = unions.map((atom) => unions.flatMap((union, row) => (atom & union ? [row] : [])));
  const root = unions.map(() => unions.map(() => next() - 0.5));
  const covariance = root.map((a, i) =>
    Float64Array.from(
      root,
      (b, j) => a.reduce((sum, value, k) => sum + value * b[k]!, 0) + (i === j ? 1 : 0),
    ),
  );
  const values = unions.map((union) => 20 * Math.sqrt(union) * next());
  const best: PeopleGroup['best'] = (rewards, least) =>
    atoms
      .map((column) => ({
        id: column.join(),
        column,
        reward: column.reduce((sum, row) => sum + rewards[row]!, 0),
      }))
      .filter(({ reward }) => reward > least);
  return {
    ...{ values, covariance, atoms, counts: [], constraints: [], population: undefined },
    groups: [{ best, partOf: (all) => [...all] }],
  };
}

/**
 * Returns a problem with unions that are measured for each group and for all groups together. Each of these
 * measurements is missing with a probability of 20 %. A union can therefore be measured for all groups together but not
 * for each group.
 */
function randomGroups(next: () => number, groups: number, segments: number): Problem {
  const unions = Array.from({ length: (1 << segments) - 1 }, (_, i) => i + 1);
  const needs = Array.from({ length: groups + 1 }, (_, group) =>
    unions.flatMap((union) => (next() < 0.8 ? [{ group, union, deviation: 1 + 20 * next() }] : [])),
  ).flat();
  const rowsOf = (group: number, atom: number) =>
    needs.flatMap((need, row) =>
      (need.group === group || need.group === groups) && atom & need.union ? [row] : [],
    );
  const kinds = Array.from({ length: groups }, (_, group) => unions.map((atom) => rowsOf(group, atom)));
  const people = kinds.flat().map((column) => ({ column, count: next() < 0.5 ? 0 : 200 * next() }));
  return {
    values: needs.map(({ deviation }, row) => {
      const truth = people.reduce((sum, { column, count }) => sum + (column.includes(row) ? count : 0), 0);
      return truth + deviation * (next() + next() + next() - 1.5);
    }),
    covariance: needs.map(({ deviation }, row) =>
      Float64Array.from(needs, (_, i) => (i === row ? deviation ** 2 : 0)),
    ),
    groups: kinds.map((columns) => ({
      best: (rewards, least) =>
        columns
          .map((column) => ({
            id: column.join(),
            column,
            reward: column.reduce((sum, row) => sum + rewards[row]!, 0),
          }))
          .filter(({ reward }) => reward > least),
      partOf: (values) => values.map((value, row) => (needs[row]!.group === groups ? value / groups : value)),
    })),
    ...{ counts: [], constraints: [], population: undefined },
  };
}

/** Solves the problem with quadprog, whose arrays start at 1. Returns the fitted values. */
function byQuadprog(
  { values, covariance, atoms }: ReturnType<typeof randomProblem>,
  population?: number,
): number[] {
  const n = atoms.length;
  const weights = inverse(covariance);
  const column = (atom: number[]) => values.map((_, row) => (atom.includes(row) ? 1 : 0));
  const product = (a: number[], b: readonly number[]) =>
    a.reduce((sum, x, i) => sum + x * weights[i]!.reduce((inner, w, j) => inner + w * b[j]!, 0), 0);
  const columns = atoms.map(column);
  const D = [[], ...columns.map((a) => [0, ...columns.map((b) => product(a, b))])];
  const d = [0, ...columns.map((a) => product(a, values))];
  const total = population === undefined ? [] : [-1];
  const A = [[], ...columns.map((_, i) => [0, ...columns.map((_, j) => (i === j ? 1 : 0)), ...total])];
  const b = [0, ...new Array<number>(n).fill(0), ...(population === undefined ? [] : [-population])];
  const { solution, message } = solveQP(D, d, A, b);
  expect(message).toBe('');
  return values.map((_, row) => columns.reduce((sum, c, i) => sum + c[row]! * solution[i + 1]!, 0));
}

/** Inverts a matrix by Gauss–Jordan elimination. */
function inverse(matrix: readonly Float64Array[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...matrix.map((_, j) => (i === j ? 1 : 0))]);
  for (let i = 0; i < n; i++) {
    const pivot = rows[i]![i]!;
    rows[i] = rows[i]!.map((value) => value / pivot);
    for (let r = 0; r < n; r++) {
      const factor = rows[r]![i]!;
      if (r !== i) rows[r] = rows[r]!.map((value, k) => value - factor * rows[i]![k]!);
    }
  }
  return rows.map((row) => row.slice(n));
}

describe('the solver', () => {
  test('returns the solution of quadprog, with and without a population limit that is reached', () => {
    const next = generator(3);
    for (let i = 0; i < 100; i++) {
      const problem = randomProblem(next, 2 + (i % 3));
      const free = solve(problem);
      for (const [row, value] of byQuadprog(problem).entries())
        expect(free.fitted[row]).toBeCloseTo(value, 1);
      const population = 0.8 * free.people.reduce((sum, people) => sum + people, 0);
      if (population < 1) continue;
      const bounded = solve({ ...problem, population });
      for (const [row, value] of byQuadprog(problem, population).entries())
        expect(bounded.fitted[row]).toBeCloseTo(value, 1);
    }
  });

  test('returns the same solution for groups and their total if it starts from the groups or from 0 people', () => {
    const next = generator(5);
    for (let i = 0; i < 40; i++) {
      const problem = randomGroups(next, 2 + (i % 4), 2 + (i % 3));
      const [fast, slow] = [solve(problem), solve(problem, NOBODY)];
      expect(fast.chiSquared).toBeCloseTo(slow.chiSquared, 6);
      for (const [row, value] of slow.fitted.entries())
        expect(Math.abs(fast.fitted[row]! - value)).toBeLessThan(1e-6 * Math.max(1, value));
      expect(fast.dimension).toBe(slow.dimension);
      expect(Math.max(fast.residual, slow.residual)).toBeLessThan(1e-8);
    }
  });

  test('returns a solution that satisfies the Karush–Kuhn–Tucker conditions', () => {
    const next = generator(9);
    for (let i = 0; i < 100; i++) {
      const problem = randomProblem(next, 2 + (i % 3));
      const { fitted, people, columns, residual } = solve(problem);
      expect(residual).toBeLessThan(1e-4);
      expect(people.every((value) => value > 0)).toBe(true);
      const weights = inverse(problem.covariance);
      const rewards = weights.map((row) =>
        row.reduce((sum, w, j) => sum + w * (problem.values[j]! - fitted[j]!), 0),
      );
      const used = new Set(columns.map((column) => column.join()));
      for (const atom of problem.atoms) {
        const reward = atom.reduce((sum, row) => sum + rewards[row]!, 0);
        if (used.has(atom.join())) expect(Math.abs(reward)).toBeLessThan(1e-6);
        else expect(reward).toBeLessThan(0.02);
      }
    }
  });
});
