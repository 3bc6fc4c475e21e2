/** A least-squares problem over numbers of people, and its solution. */
import type { Column, Kind, PeopleGroup } from './people.ts';

/** Maps row indexes to weights. The weighted sum of these rows must be at least 0. */
export type Constraint = ReadonlyMap<number, number>;

export interface Problem {
  values: readonly number[];
  covariance: readonly Float64Array[];
  /** The groups of people. Nobody is in two of them. */
  groups: readonly PeopleGroup[];
  /** The indexes of the rows that count events instead of people. Each of these rows is an unknown by itself. */
  counts: readonly number[];
  constraints: readonly Constraint[];
  population: number | undefined;
}

/** Kinds of people, and how many people there are of each kind. */
export interface KindsOfPeople {
  columns: Column[];
  people: number[];
}

export const NOBODY: KindsOfPeople = { columns: [], people: [] };

export interface Solution extends KindsOfPeople {
  /** The row indexes of each unknown. The list is empty for the slack of a constraint. */
  columns: Column[];
  /** The fitted value for each column: a number of people, a count of events, or slack. */
  people: number[];
  /** The fitted value of each row. */
  fitted: Float64Array;
  chiSquared: number;
  /** The number of positive unknowns, minus the number of bounds that the solution reaches. */
  dimension: number;
  /** The largest decrease in χ² that a change of one unknown could still cause. It is 0 at the optimum. */
  residual: number;
}

/** Returns the kinds of people of all groups whose reward exceeds `least`, with the highest reward first. */
export function bestOf({ groups }: Problem, rewards: ArrayLike<number>, least: number): Kind[] {
  return groups.flatMap(({ best }) => best(rewards, least)).sort((a, b) => b.reward - a.reward);
}
