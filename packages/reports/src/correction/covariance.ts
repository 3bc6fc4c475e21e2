/**
 * The covariance of the errors of all measured numbers. Errors come from noise, sampling, and collisions in sketches.
 */
import {
  LiquidLegionsCovariances,
  liquidLegionsShareVariances,
  scalarVariance,
  shareShuffleCovariance,
} from '@measurement-exchange/mpc';
import type { PlannedNeed } from '../plan/types.ts';
import { isCount, type Methodology, type Row, sharesOf } from './answers.ts';
import { noiseCovariance, noiseOf, ROUNDING } from './noiseCovariance.ts';

/**
 * Returns how many people are counted in both row a and row b. If a equals b, this is the number of people in row a.
 */
export type Overlap = (a: number, b: number) => number;

export function covarianceOf(rows: readonly Row[], overlap: Overlap): Float64Array[] {
  const matrix = rows.map(() => new Float64Array(rows.length));
  const ofNeeds = Map.groupBy(rows.keys(), (i) => rows[i]!.planned);
  const known: KnownSketches = { rows: ofNeeds, errors: new Map(), covariances: new Map() };
  for (let i = 0; i < rows.length; i++) {
    for (let j = 0; j <= i; j++) {
      const value = covariance(rows, i, j, overlap, known);
      matrix[i]![j] = value;
      matrix[j]![i] = value;
    }
    // A value that is scaled up from a sample is also rounded down, which adds the variance ROUNDING. Two small numbers
    // (1e-9 times the variance, and 1e-6) keep the matrix invertible in spite of rounding errors.
    const { width } = rows[i]!.answer.methodology;
    matrix[i]![i]! += (width < 1 ? ROUNDING : 0) + 1e-9 * matrix[i]![i]! + 1e-6;
  }
  return matrix;
}

function covariance(
  rows: readonly Row[],
  i: number,
  j: number,
  overlap: Overlap,
  known: KnownSketches,
): number {
  const [a, b] = [rows[i]!, rows[j]!];
  const isSame = a.planned === b.planned;
  if (isCount(a) || isCount(b)) return i === j ? countVariance(a) : 0;
  const [first, second] = [a.answer.methodology, b.answer.methodology];
  const isSketched = (protocol: string) => protocol.endsWith('LegionsV2');
  if (isSketched(first.protocol) && isSketched(second.protocol))
    return sketchCovariance(rows, i, j, overlap, known);
  const noise = isSame ? noiseCovariance(a, b) : 0;
  const { width } = first;
  if (width >= 1 || second.width !== width) return noise;
  if (first.protocol === 'honestMajorityShareShuffle' || second.protocol === 'honestMajorityShareShuffle') {
    // Share shuffle samples different people than the other protocols, so sampling adds no covariance between them.
    if (first.protocol !== 'honestMajorityShareShuffle' || second.protocol !== first.protocol) return noise;
    return noise + shareShuffleCovariance([overlap(i, i), overlap(j, j)], overlap(i, j), first);
  }
  return noise + overlap(i, j) * (1 / width - 1);
}

function countVariance(row: Row): number {
  const { width } = row.answer.methodology;
  const maximumPerUser = row.planned.need.maximumPerPerson ?? 1;
  return scalarVariance({ value: row.value, maximumPerUser, width, noiseVariance: noiseOf(row) });
}

type SketchMethodology = Extract<Methodology, { maxSize: number }>;

/** Intermediate values that several pairs of rows need. Each value is computed only once. */
interface KnownSketches {
  /** The indexes of the rows of each need. */
  rows: Map<PlannedNeed, number[]>;
  errors: Map<PlannedNeed, SketchErrors>;
  covariances: Map<string, LiquidLegionsCovariances>;
}

/** The errors of one answer from a sketch. */
interface SketchErrors {
  /** The variance of the reach. */
  reach: number;
  /** The variance of the share of each frequency. Empty if the answer is a reach. */
  shares: readonly number[];
  /**
   * True if noise alone can explain the measured shares. The shares then contain no information about the true shares.
   */
  isNoise: boolean;
}

/** The variance of a share that is uniform in [0, 1]. A share with this variance or more can have any value. */
const ANY_SHARE = 1 / 12;

/**
 * Returns the covariance of two rows from sketches. The number of people at a frequency is a share times the reach, so
 * the number has the errors of both factors.
 */
function sketchCovariance(
  rows: readonly Row[],
  i: number,
  j: number,
  overlap: Overlap,
  known: KnownSketches,
): number {
  const [a, b] = [rows[i]!, rows[j]!];
  const { methodology } = a.answer;
  if (!('maxSize' in methodology)) return 0;
  const [p, q] = [shareOf(a), shareOf(b)];
  // A row for one frequency contains only a part of its union's people, so use the reach of the whole union.
  const reaches = [reachOf(a, overlap(i, i)), reachOf(b, overlap(j, j))] as const;
  if (a.planned !== b.planned) {
    const common = Math.min(peopleInBoth(a.planned, b.planned, known, overlap), ...reaches);
    return p * q * covariancesOf(methodology, known).of(reaches, common);
  }
  // Compute the errors only once for all pairs of frequencies, because each error is a slow sum over registers.
  const errors = known.errors.get(a.planned) ?? sketchErrors(a, methodology, reaches[0], known);
  known.errors.set(a.planned, errors);
  if (a.frequency === undefined) return errors.reach;
  const share = shareCovariance(errors, [a.frequency, b.frequency!], [p, q]);
  // Return the covariance of two products. Both are the reach times a share, and the errors of the reach and of the
  // shares are independent. The product of `errors.reach` and `share` matters if the reach can be 0.
  return p * q * errors.reach + (reaches[0] ** 2 + errors.reach) * share;
}

/**
 * Returns how many people two unions have in common. Adds up the overlaps of all pairs of frequencies. The overlap of a
 * single pair is arbitrary, because the answers do not determine it.
 */
function peopleInBoth(a: PlannedNeed, b: PlannedNeed, { rows }: KnownSketches, overlap: Overlap): number {
  let sum = 0;
  for (const i of rows.get(a)!) for (const j of rows.get(b)!) sum += overlap(i, j);
  return sum;
}

function sketchErrors(
  row: Row,
  methodology: SketchMethodology,
  reach: number,
  known: KnownSketches,
): SketchErrors {
  const { decayRate, maxSize, width, samplingIndicatorSize = 1 } = methodology;
  const size = { decayRate, maxSize, width };
  const variance = covariancesOf(methodology, known).of([reach, reach], reach, noiseOf(row));
  if (row.frequency === undefined) return { reach: variance, shares: [], isNoise: false };
  const shares = sharesOf(row.planned, row.answer);
  const frequencies = {
    ...{ ...size, samplingIndicatorSize, reach },
    maximumFrequency: shares.length,
    frequencyNoiseVariance: noiseOf(row, 'frequency'),
  };
  const variances = liquidLegionsShareVariances(frequencies, shares);
  const isNoise = variances.every((variance) => variance >= ANY_SHARE);
  return { reach: variance, shares: variances, isNoise };
}

/** Returns the covariance of the errors of two shares p and q of one distribution. */
function shareCovariance(
  { shares: variances, isNoise }: SketchErrors,
  [f, g]: readonly [number, number],
  [p, q]: readonly [number, number],
): number {
  const isSame = f === g;
  if (isNoise) {
    // The measured shares contain no information, so each share's 95% interval must reach from 0 to 1. To compute a
    // covariance, assume that all people have one common frequency, and that every frequency is equally likely. Then
    // scale the covariance so that the variance of each share is at least 1.
    const even = 1 / variances.length;
    return 2 * variances.length * ((isSame ? even : 0) - even ** 2 + (p - even) * (q - even));
  }
  const [v, w] = [variances[f - 1]!, variances[g - 1]!];
  // Shares add up to 1, so their errors are negatively correlated.
  return isSame ? v : -Math.sqrt((v * w * p * q) / ((1 - p) * (1 - q) || 1));
}

function covariancesOf(
  { decayRate, maxSize, width }: SketchMethodology,
  { covariances }: KnownSketches,
): LiquidLegionsCovariances {
  const id = [decayRate, maxSize, width].join();
  const of = covariances.get(id) ?? new LiquidLegionsCovariances({ decayRate, maxSize, width });
  covariances.set(id, of);
  return of;
}

function shareOf(row: Row): number {
  return row.frequency === undefined ? 1 : sharesOf(row.planned, row.answer)[row.frequency - 1]!;
}

function reachOf(row: Row, people: number): number {
  return Math.max(1, row.frequency === undefined ? people : row.answer.value);
}
