/** The least-squares problem that corrects a report's answers, and its solution. A row is one measured number. */
import type { Column, Kind, PeopleGroup } from './people.ts';

/** Maps row indexes to weights. The weighted sum of the corrected values of these rows must be at least 0. */
export type Constraint = ReadonlyMap<number, number>;

export interface Problem {
  values: readonly number[];
  covariance: readonly Float64Array[];
  /** The groups of people. Nobody belongs to two groups. */
  groups: readonly PeopleGroup[];
  /** The indexes of the rows that count events instead of people. Each of these counts is a separate unknown. */
  counts: readonly number[];
  constraints: readonly Constraint[];
  population: number | undefined;
}

/** Kinds of people (see people.ts): `people[i]` is the number of people who are counted in the rows `columns[i]`. */
export interface KindsOfPeople {
  columns: Column[];
  people: number[];
}

export const NOBODY: KindsOfPeople = { columns: [], people: [] };

export interface Solution extends KindsOfPeople {
  /**
   * For each unknown that the solution uses, the indexes of the rows that include the unknown. The list is empty if the
   * unknown is the slack of a constraint or of the population.
   */
  columns: Column[];
  /** The fitted value for each column: a number of people, a count of events, or slack. */
  people: number[];
  /** The fitted value of each row. */
  fitted: Float64Array;
  chiSquared: number;
  /**
   * The number of positive unknowns other than slack, minus the number of bounds that the solution reaches. Each
   * constraint is a bound, and the population is a bound.
   */
  dimension: number;
  /**
   * The largest decrease in χ² that is still possible by changing one unknown or adding one kind of people. It is 0 at
   * the optimum.
   */
  residual: number;
}

/**
 * Returns kinds of people, from all groups, whose reward exceeds `least`. The highest reward comes first. The
 * reward of a kind of people is the sum of `rewards[row]` over all rows that count these people.
 */
export function bestOf({ groups }: Problem, rewards: ArrayLike<number>, least: number): Kind[] {
  return groups.flatMap(({ best }) => best(rewards, least)).sort((a, b) => b.reward - a.reward);
}
