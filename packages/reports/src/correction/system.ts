/**
 * The equations of a problem: one per measured number, one per constraint, and one for the population if its size is
 * known.
 */
import type { Column } from './people.ts';
import { Precision, type Sparse } from './precision.ts';
import type { Problem } from './problem.ts';

/** An unknown of the fit: the number of people of one kind (see people.ts), a count of events, or slack. */
export interface Unknown extends Sparse {
  column: Column;
  /**
   * The square of this vector (see `Precision.square`). For people and counts of events, the square leaves out the
   * equations of the constraints and of the population, because slack can offset a change in these equations.
   */
  square: number;
}

/**
 * The standard deviation of each constraint equation and of the population equation, as a fraction of the median
 * standard deviation of the answers. The fraction is small, so that the fit satisfies these equations almost exactly.
 */
const TIGHT = 1e-3;

export class System {
  readonly target: Float64Array;
  readonly precision: Precision;
  /**
   * The unknowns that are available from the start of a fit: the counts of events, and the slack of the constraints and
   * of the population.
   */
  readonly always: Unknown[];
  private readonly problem: Problem;
  /** For each row, the indexes of the constraints that contain the row, and the row's weight in each of them. */
  private readonly weights: [constraint: number, weight: number][][];

  constructor(problem: Problem) {
    const { values, covariance, constraints, population, counts } = problem;
    this.problem = problem;
    const deviations = covariance.map((row, i) => Math.sqrt(row[i]!)).sort((a, b) => a - b);
    const tightness = 1 / (TIGHT * (deviations[deviations.length >> 1] ?? 1)) ** 2;
    const limits = population === undefined ? 0 : 1;
    this.precision = new Precision(covariance, constraints.length + limits, tightness);
    this.target = new Float64Array(this.precision.size);
    this.target.set(values);
    if (population !== undefined) this.target[this.precision.size - 1] = population;
    this.weights = values.map(() => []);
    for (const [c, constraint] of constraints.entries())
      for (const [row, weight] of constraint) this.weights[row]!.push([c, weight]);
    const slack = (row: number, sign: number) => ({
      column: [],
      rows: Int32Array.of(row),
      values: Float64Array.of(sign),
      square: tightness,
    });
    this.always = [
      ...counts.map((row) => this.unknown([row], [])),
      ...constraints.map((_, c) => slack(values.length + c, -1)),
      ...(population === undefined ? [] : [slack(this.precision.size - 1, 1)]),
    ];
  }

  person(column: Column): Unknown {
    return this.unknown(column, this.problem.population === undefined ? [] : [this.precision.size - 1]);
  }

  /**
   * Returns the reward of each row: half the rate at which χ² falls when the row's fitted number grows. A reward
   * includes the effect on the constraints that contain the row. `all` contains the same rate for each equation by
   * itself, without the effect on other equations. Also returns the `price` of one person: one more person improves the
   * fit only if the rewards of the rows that count this person add up to more than `price`. At the optimum, `price` is
   * above 0 only if the fitted people use up the population.
   */
  rewards(all: Float64Array): { rewards: Float64Array; price: number } {
    const { values, population } = this.problem;
    const rewards = all.slice(0, values.length);
    for (const [row, weights] of this.weights.entries())
      for (const [c, weight] of weights) rewards[row]! += weight * all[values.length + c]!;
    return { rewards, price: population === undefined ? 0 : -all[this.precision.size - 1]! };
  }

  private unknown(column: Column, limits: readonly number[]): Unknown {
    const people = { rows: Int32Array.from(column), values: new Float64Array(column.length).fill(1) };
    const constrained = new Map<number, number>();
    for (const row of column)
      for (const [c, weight] of this.weights[row]!) constrained.set(c, (constrained.get(c) ?? 0) + weight);
    const extra = [...constrained].filter(([, weight]) => weight !== 0);
    const square = this.precision.square(people);
    if (extra.length + limits.length === 0) return { column, ...people, square };
    return {
      column,
      rows: Int32Array.of(...column, ...extra.map(([c]) => this.problem.values.length + c), ...limits),
      values: Float64Array.of(...people.values, ...extra.map(([, weight]) => weight), ...limits.map(() => 1)),
      square,
    };
  }
}
