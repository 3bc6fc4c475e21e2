/**
 * Computes how well the corrected numbers of people explain the answers, and which party's answers contradict the
 * others.
 */
import type { Row } from './answers.ts';
import { chiSquaredTail } from './chiSquared.ts';
import { noiseOf } from './noiseCovariance.ts';
import type { Solution } from './problem.ts';

export interface Fit {
  chiSquared: number;
  degrees: number;
  /** The probability of a fit this bad or worse, if everybody answers honestly. */
  p: number;
  state: 'CONSISTENT' | 'INCONSISTENT';
  /**
   * The source (see `sourceOf`) that most likely causes the contradiction: a data provider, or one computation by
   * duchies. Set only if `state` is INCONSISTENT.
   */
  suspect?: {
    /**
     * The key of the need that the suspect answered. If a provider answered several needs, the one with the largest
     * pull.
     */
    key: string;
    /** The answer to this need minus its corrected value, in standard deviations. */
    pull: number;
    /** The data providers whose data the answer measures. A provider's own answer measures only its own data. */
    dataProviders: string[];
    /** The χ² that remains if all of the suspect's answers are left out. */
    chiSquaredWithout: number;
  };
}

/** Answers count as contradictory if the probability `p` of their fit is below this value. */
export const INCONSISTENT_BELOW = 0.001;
/** The maximum number of sources (see `sourceOf`) to try as suspects. The sources with the largest pulls are tried. */
const SUSPECTS = 6;

export function fitOf(
  rows: readonly Row[],
  covariance: readonly Float64Array[],
  solution: Solution,
  solveWithout: (isKept: (row: Row) => boolean) => Solution,
): Fit {
  const degrees = rows.length - solution.dimension;
  const chiSquared = solution.chiSquared / heavyTails(rows);
  const p = chiSquaredTail(chiSquared, degrees);
  if (p >= INCONSISTENT_BELOW) return { chiSquared, degrees, p, state: 'CONSISTENT' };
  const pulls = rows
    .map((row, i) => ({ row, pull: (row.value - solution.fitted[i]!) / Math.sqrt(covariance[i]![i]!) }))
    .sort((a, b) => Math.abs(b.pull) - Math.abs(a.pull));
  const sources = [...new Set(pulls.map(({ row }) => sourceOf(row)))].slice(0, SUSPECTS);
  const tried = sources.map((source) => {
    const kept = rows.filter((row) => sourceOf(row) !== source);
    const { chiSquared: rest, dimension } = solveWithout((row) => sourceOf(row) !== source);
    const remaining = rest / heavyTails(rows);
    const explains = chiSquaredTail(remaining, kept.length - dimension) >= INCONSISTENT_BELOW;
    return { source, rest: remaining, rank: explains ? (isComputed(source) ? 1 : 0) : 2 };
  });
  // If several sources could explain the contradiction, suspect a single provider rather than a computation by duchies.
  tried.sort((a, b) => a.rank - b.rank || a.rest - b.rest);
  const worst = pulls.find(({ row }) => sourceOf(row) === tried[0]!.source)!;
  const { key, dataProviders } = worst.row.planned;
  const suspect = { key, pull: worst.pull, dataProviders, chiSquaredWithout: tried[0]!.rest };
  return { chiSquared, degrees, p, state: 'INCONSISTENT', suspect };
}

/**
 * Returns the source of an answer: the data provider that computed it, or the duchies' computation of this one need.
 * All answers from a source are suspected together.
 */
function sourceOf({ planned: { computed, dataProviders, key } }: Row): string {
  return computed === undefined ? dataProviders[0]! : `${COMPUTED}${key}`;
}
const COMPUTED = 'computed ';
const isComputed = (source: string) => source.startsWith(COMPUTED);

/**
 * Returns the divisor that corrects χ² for geometric and Laplace noise, which exceed 4.88 standard deviations as often
 * as normal noise exceeds 3.29. The divisor is between 1 (no such noise) and the square of 4.88 / 3.29 (only such
 * noise).
 */
function heavyTails(rows: readonly Row[]): number {
  const isHeavy = (row: Row) => /GEOMETRIC|LAPLACE/.test(row.answer.methodology.noise?.mechanism ?? '');
  const total = rows.reduce((sum, row) => sum + noiseOf(row), 0);
  const heavy = rows.filter(isHeavy).reduce((sum, row) => sum + noiseOf(row), 0);
  return 1 + ((4.88 / 3.29) ** 2 - 1) * (total > 0 ? heavy / total : 0);
}
