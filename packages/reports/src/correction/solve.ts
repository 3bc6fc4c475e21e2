/**
 * Weighted least squares over non-negative numbers of people. There are too many kinds of people to list, so kinds are
 * added until no kind improves the fit. Then the Karush-Kuhn-Tucker conditions hold for all kinds, even for those that were
 * never added.
 */
import { dotSparse, LeastSquares, subtract } from './leastSquares.ts';
import type { Column } from './people.ts';
import type { Problem, Solution } from './problem.ts';
import { System, type Unknown } from './system.ts';

/** Thrown if no solution is found, or if a solution is not optimal. Uncorrected figures are never shown as corrected. */
export class SolveError extends Error {
  override readonly name = 'SolveError';
}

/** A decrease in χ² counts as no improvement unless it exceeds this value, or this fraction of χ². */
const TOLERANCE = 1e-5;
const RELATIVE_TOLERANCE = 1e-12;
/** A solution is rejected if its residual exceeds this multiple of the tolerance. */
const REJECTED = 1000;
/** The maximum number of unknowns to add at once, and the minimum gain of each one as a fraction of the largest gain. */
const [BATCH, BATCH_GAIN] = [32, 0.25];

/** Solves the problem. Starts with the kinds of people in `known`. Kinds from a similar problem's solution save time. */
export function solve(problem: Problem, known: readonly Column[] = []): Solution {
  const { population } = problem;
  const solution = solveWithin({ ...problem, population: undefined }, known);
  // The population rarely limits the solution. Apply this limit only if the solution exceeds it.
  if (population === undefined || peopleIn(solution, problem) <= population) return solution;
  return solveWithin(problem, solution.columns);
}

/** Returns the total number of people of all kinds. */
export function peopleIn({ columns, people }: Solution, { counts }: Pick<Problem, 'counts'>): number {
  return people.reduce((sum, value, i) => (isPerson(columns[i]!, counts) ? sum + value : sum), 0);
}

function isPerson(column: Column, counts: readonly number[]): boolean {
  return column.length > 0 && !counts.includes(column[0]!);
}

function solveWithin(problem: Problem, start: readonly Column[]): Solution {
  const system = new System(problem);
  const squares = new LeastSquares<Unknown>(system.target, system.precision);
  const first = start.filter((column) => isPerson(column, problem.counts));
  const pool = [...system.always, ...first.map((column) => system.person(column))];
  const known = new Set(first.map((column) => column.join()));
  const most = 100 * (problem.values.length + 10);
  for (let round = 0; round < most; round++) {
    const least = toleranceAt(squares.chiSquared);
    const gains = gainsIn(pool, squares, least);
    if (addBest(squares, gains)) continue;
    const { rewards, price } = system.rewards(squares.rewards);
    const added = problem
      .best(rewards, price)
      .filter(({ column }) => !known.has(column.join()))
      .map(({ column }) => system.person(column))
      .filter((one) => gainOf(one, squares.rewards) > least);
    if (added.length === 0) return checked(problem, system, squares);
    for (const one of added) known.add(one.column.join());
    pool.push(...added);
  }
  throw new SolveError(
    `The correction of ${problem.values.length} answers does not end after ${most} steps.`,
  );
}

/** Returns the unknowns that would improve the fit, with the largest gain first. */
function gainsIn(
  pool: readonly Unknown[],
  { used, rewards }: LeastSquares<Unknown>,
  least: number,
): { one: Unknown; gain: number }[] {
  const isUsed = new Set(used);
  const gains: { one: Unknown; gain: number }[] = [];
  for (const one of pool) {
    const gain = isUsed.has(one) ? 0 : gainOf(one, rewards);
    if (gain > least) gains.push({ one, gain });
  }
  return gains.sort((a, b) => b.gain - a.gain);
}

/** Adds the unknowns with the largest gains together. If they obstruct each other, adds only one of them. */
function addBest(squares: LeastSquares<Unknown>, gains: readonly { one: Unknown; gain: number }[]): boolean {
  if (gains.length === 0) return false;
  const before = squares.chiSquared;
  const batch = gains.slice(0, BATCH).filter(({ gain }) => gain >= gains[0]!.gain * BATCH_GAIN);
  squares.add(batch.map(({ one }) => one));
  // A kind may gain little before the slack of its constraint is added, too.
  if (squares.chiSquared < before) return true;
  // A linear combination of used kinds cannot be added. In that case, try the kind with the next-largest gain.
  return gains.some(({ one }) => !squares.used.includes(one) && squares.add([one]));
}

const toleranceAt = (chiSquared: number) => Math.max(TOLERANCE, RELATIVE_TOLERANCE * chiSquared);

/** Returns how much χ² falls if this unknown takes its best value and all other unknowns keep theirs. */
function gainOf(one: Unknown, rewards: Float64Array): number {
  const reward = dotSparse(one, rewards);
  return reward <= 0 ? 0 : reward ** 2 / one.square;
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
  // Each bound removes one dimension. If a bound has slack, the slack is a used unknown, which adds the dimension again.
  const bounds = system.target.length - problem.values.length;
  const dimension = Math.max(0, columns.length - bounds);
  return { columns, people: squares.coefficients, fitted, chiSquared, dimension, residual };
}

/**
 * Checks the Karush-Kuhn-Tucker conditions, using only the answers and the fitted numbers. An unknown above 0 must have a
 * reward of 0, and no kind of people may have a reward above its price. Returns the largest decrease in χ² that a change
 * of one unknown could still cause.
 */
function residualOf(problem: Problem, system: System, { used, coefficients }: LeastSquares<Unknown>): number {
  const rest = Float64Array.from(system.target);
  for (const [i, one] of used.entries()) subtract(rest, one, coefficients[i]!);
  const all = system.precision.timesDense(rest);
  const { rewards, price } = system.rewards(all);
  const left = [
    ...used.map((one) => dotSparse(one, all) ** 2 / one.square),
    ...system.always.map((one) => gainOf(one, all)),
    ...problem.best(rewards, price).map(({ column }) => gainOf(system.person(column), all)),
  ];
  return left.reduce((most, gain) => Math.max(most, gain), 0);
}
