/** Corrects a report's answers. Finds the non-negative whole numbers of people that explain the answers best. */
import type { Plan, PlannedNeed } from '../plan/types.ts';
import { type Answer, isCount, type Row, rowsOf } from './answers.ts';
import { componentsOf, neighborsOf } from './components.ts';
import { countConstraints, settleCounts } from './counts.ts';
import { covarianceOf } from './covariance.ts';
import { type Fit, fitOf } from './fit.ts';
import { People } from './people.ts';
import type { Problem, Solution } from './problem.ts';
import { rounded } from './round.ts';
import { peopleIn, solve } from './solve.ts';

/** A need's corrected value, together with its measured answer. */
export interface CorrectedNeed {
  planned: PlannedNeed;
  answer: Answer;
  /**
   * The corrected reach, count, or seconds. It is a whole number that is consistent with all other corrected values.
   */
  value: number;
  /** The number of people at each frequency, adding up to `value`. Set only for a distribution. */
  frequencies?: number[];
  /** The indexes of the need's rows in `component.rows`. */
  rows: number[];
  component: Component;
}

export interface Component {
  rows: Row[];
  /**
   * The covariance of the rows' errors. Errors that depend on numbers of people are computed from the numbers of a
   * preliminary solution, which is less exact than `solution`.
   */
  covariance: readonly Float64Array[];
  solution: Solution;
  fit: Fit;
}

export interface Correction {
  /** The corrected needs by their keys. */
  needs: Map<string, CorrectedNeed>;
  components: Component[];
}

export function correct(plan: Plan, answers: ReadonlyMap<string, Answer>): Correction {
  const rows = plan.needs.flatMap((planned) => {
    const answer = answers.get(planned.key);
    return answer === undefined ? [] : rowsOf(planned, answer);
  });
  const parts = componentsOf(rows).map((part) => correctComponent(plan, part));
  const components = plan.population === undefined ? parts : withinPopulation(plan, parts, plan.population);
  const needs = components
    .flatMap((component) => wholeNeeds(component, plan.population))
    .map((need) => [need.planned.key, need] as const);
  return { needs: new Map(needs), components };
}

/**
 * Corrects neighboring components together if their total number of people exceeds the population. Neighbors have
 * overlapping periods and disjoint groups. Returns all other components unchanged.
 */
function withinPopulation(plan: Plan, parts: readonly Component[], population: number): Component[] {
  return neighborsOf(parts).flatMap((near) => {
    // Add rounded numbers of people, because the report contains rounded numbers, whose sum can exceed the exact sum.
    const total = near.reduce((sum, { rows, solution }) => {
      const counts = rows.flatMap((row, i) => (isCount(row) ? [i] : []));
      return sum + Math.round(peopleIn(solution, { counts }));
    }, 0);
    if (near.length === 1 || total <= population) return near;
    return [
      correctComponent(
        plan,
        near.flatMap(({ rows }) => rows),
      ),
    ];
  });
}

function correctComponent(plan: Plan, rows: Row[]): Component {
  const own = (i: number, j: number) => (i === j ? rows[i]!.value : 0);
  const firstProblem = problemFor(plan, rows, covarianceOf(rows, own));
  const first = solve(firstProblem);
  // If the errors depend on numbers of people, recompute the errors with the numbers from the first solution.
  const dependsOnPeople = rows.some(
    ({ answer: { methodology } }) => methodology.width < 1 || 'maxSize' in methodology,
  );
  const covariance = dependsOnPeople ? covarianceOf(rows, overlapOf(first)) : firstProblem.covariance;
  const solution = dependsOnPeople ? solve({ ...firstProblem, covariance }, first) : first;
  const solveWithout = (left: (row: Row) => boolean) => {
    const kept = rows.flatMap((row, i) => (left(row) ? [i] : []));
    const matrix = kept.map((i) => Float64Array.from(kept, (j) => covariance[i]![j]!));
    return solve(
      problemFor(
        plan,
        kept.map((i) => rows[i]!),
        matrix,
      ),
    );
  };
  return { rows, covariance, solution, fit: fitOf(rows, covariance, solution, solveWithout) };
}

/** Returns a function that looks up how many people two rows have in common, according to a solution. */
function overlapOf({ columns, people, fitted }: Solution): (i: number, j: number) => number {
  const common = Array.from(fitted, () => new Float64Array(fitted.length));
  for (const [c, column] of columns.entries()) {
    for (const i of column) for (const j of column) common[i]![j]! += people[c]!;
  }
  return (i, j) => common[i]![j]!;
}

function problemFor(
  { segments, atoms, population }: Plan,
  rows: readonly Row[],
  covariance: readonly Float64Array[],
): Problem {
  const people = new People(rows, segments.length, atoms);
  return {
    values: rows.map(({ value }) => value),
    covariance,
    groups: people.groups,
    counts: rows.flatMap((row, i) => (isCount(row) ? [i] : [])),
    constraints: countConstraints(rows, covariance),
    population,
  };
}

/** Returns the corrected needs of a component. Rounds before adding, so that all sums are whole and consistent. */
function wholeNeeds(component: Component, population: number | undefined): CorrectedNeed[] {
  const { rows, solution } = component;
  const isPerson = (i: number) => {
    const [row] = solution.columns[i]!;
    return row !== undefined && !isCount(rows[row]!);
  };
  // Round all numbers of people together, so that their sum stays within the population. Round all remaining numbers
  // separately: the counts of events, and the slack of constraints (the columns without rows).
  const whole = rounded(
    solution.people.map((value, i) => (isPerson(i) ? value : 0)),
    population,
  );
  const people = solution.people.map((value, i) => (isPerson(i) ? whole[i]! : Math.round(value)));
  const values = new Float64Array(rows.length);
  for (const [i, column] of solution.columns.entries()) for (const row of column) values[row]! += people[i]!;
  settleCounts(values, countConstraints(rows, component.covariance), (row) => !isCount(rows[row]!));
  const needs = new Map<string, CorrectedNeed>();
  for (const [i, { planned, answer, frequency }] of rows.entries()) {
    const known = needs.get(planned.key);
    const value = values[i]!;
    if (known === undefined) {
      const frequencies = frequency === undefined ? {} : { frequencies: [value] };
      needs.set(planned.key, { planned, answer, value, ...frequencies, rows: [i], component });
    } else {
      known.value += value;
      known.frequencies!.push(value);
      known.rows.push(i);
    }
  }
  return [...needs.values()];
}
