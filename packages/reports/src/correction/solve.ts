/**
 * Weighted least squares over non-negative numbers of people, one number for each kind of people (see people.ts). There
 * are too many kinds to list, so kinds are added until no other kind improves the fit. Then the Karush-Kuhn-Tucker
 * conditions hold for all kinds, even for those that were never added.
 */
import { descend } from './descend.ts';
import { dotSparse, type LeastSquares } from './leastSquares.ts';
import type { Column, PeopleGroup } from './people.ts';
import { bestOf, type KindsOfPeople, type Problem, type Solution } from './problem.ts';
import { gainOf, Search, toleranceAt } from './search.ts';
import { SolveError } from './solveError.ts';
import { System, type Unknown } from './system.ts';

/** A solution is rejected if its residual exceeds REJECTED times the tolerance of its χ² (see `toleranceAt`). */
const REJECTED = 1e5;

/**
 * Solves the problem. The search starts with the people in `start`. Passing the solution of a similar problem saves
 * time.
 */
export function solve(problem: Problem, start: KindsOfPeople = descend(problem)): Solution {
  const { population } = problem;
  const solution = solveWithin({ ...problem, population: undefined }, start);
  // The size of the population rarely limits the solution. Apply this limit only if the first solution exceeds it.
  if (population === undefined || peopleIn(solution, problem) <= population) return solution;
  return solveWithin(problem, solution);
}

/** Returns the total number of people of all kinds. */
export function peopleIn({ columns, people }: Solution, { counts }: Pick<Problem, 'counts'>): number {
  return people.reduce((sum, value, i) => (isPerson(columns[i]!, counts) ? sum + value : sum), 0);
}

function isPerson(column: Column, counts: readonly number[]): boolean {
  return column.length > 0 && !counts.includes(column[0]!);
}

function solveWithin(problem: Problem, start: KindsOfPeople): Solution {
  const system = new System(problem);
  const best: PeopleGroup['best'] = (rewards, least) => bestOf(problem, rewards, least);
  const search = new Search(system, best, { always: system.always, start: onlyPeople(start, problem) });
  search.run();
  return checked(problem, system, search.squares);
}

function onlyPeople({ columns, people }: KindsOfPeople, { counts }: Problem): KindsOfPeople {
  const isKept = columns.map((column) => isPerson(column, counts));
  return { columns: columns.filter((_, i) => isKept[i]), people: people.filter((_, i) => isKept[i]) };
}

function checked(problem: Problem, system: System, squares: LeastSquares<Unknown>): Solution {
  squares.refine();
  const columns = squares.used.map(({ column }) => column);
  const fitted = new Float64Array(problem.values.length);
  for (const [i, column] of columns.entries())
    for (const row of column) fitted[row]! += squares.coefficients[i]!;
  const { chiSquared } = squares;
  const residual = residualOf(problem, system, squares);
  if (!(residual <= REJECTED * toleranceAt(chiSquared))) {
    throw new SolveError(
      `The correction of ${problem.values.length} answers is not optimal (by ${residual}).`,
    );
  }
  // Each bound (a constraint or the population) removes one dimension. If the solution does not reach a bound,
  // `columns` contains the slack of this bound, which adds the dimension back.
  const bounds = system.target.length - problem.values.length;
  const dimension = Math.max(0, columns.length - bounds);
  return { columns, people: squares.coefficients, fitted, chiSquared, dimension, residual };
}

/**
 * Returns the largest decrease in χ² that is still possible by changing one unknown or adding one kind of people. The
 * result is 0 if the Karush-Kuhn-Tucker conditions hold: every unknown above 0 has the reward 0, and no kind of people
 * has a reward above the `price` of one person (see `System.rewards`). Recomputes everything from the measured and the
 * fitted numbers, without intermediate results of the search.
 */
function residualOf(problem: Problem, system: System, squares: LeastSquares<Unknown>): number {
  const all = system.precision.timesDense(squares.restOf(system.target));
  const { rewards, price } = system.rewards(all);
  const left = [
    ...squares.used.map((one) => dotSparse(one, all) ** 2 / one.square),
    ...system.always.map((one) => gainOf(one, all)),
    ...bestOf(problem, rewards, price).map(({ column }) => gainOf(system.person(column), all)),
  ];
  return left.reduce((most, gain) => Math.max(most, gain), 0);
}
