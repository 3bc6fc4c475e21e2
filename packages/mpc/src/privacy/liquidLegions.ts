/**
 * Estimates how many people a Liquid Legions sketch represents, and how large the error may be. A person hits register
 * i of m with probability p_i = C e^(−a i / m), where a is the decay rate and C makes the probabilities add up to 1. If
 * the sketch represents y people, register i is empty with probability (1 − p_i)^y. Every quantity in this file is a
 * sum over registers.
 */
import { firstAbove } from './firstAbove.ts';
import { NORMAL_95 } from './variance.ts';

export interface LiquidLegionsSize {
  /** A person is about e^decayRate times as likely to hit the lowest register as to hit the highest register. */
  decayRate: number;
  /** The number of registers. */
  maxSize: number;
}

/** Properties of a sketch that represents a given number of people. Each property is a sum over the registers. */
export interface SketchMoments {
  /** The expected number of registers that are hit. */
  registers: number;
  /** The variance of the number of registers that are hit. People hit registers at random, so this number varies. */
  variance: number;
  /** The first derivative of `registers` with respect to the number of people. */
  slope: number;
  /** Minus the second derivative of `registers` with respect to the number of people. Never negative. */
  curvature: number;
}

export function sketchMoments(size: LiquidLegionsSize, people: number): SketchMoments {
  let registers = 0;
  let variance = 0;
  let hit = 0;
  let slope = 0;
  let curvature = 0;
  forEachRegister(size, (p, rate, weight) => {
    const empty = Math.exp(-people * rate);
    registers += weight * (1 - empty);
    variance += weight * (empty - empty ** 2 + people * (p * empty) ** 2);
    hit += weight * p * empty;
    slope += weight * rate * empty;
    curvature += weight * rate ** 2 * empty;
  });
  return { registers, variance: Math.max(0, variance - people * hit ** 2), slope, curvature };
}

/** Returns the expected number of registers that this many people hit. */
export function expectedRegisters(size: LiquidLegionsSize, people: number): number {
  let sum = 0;
  forEachRegister(size, (_p, rate, weight) => {
    sum += weight * (1 - Math.exp(-people * rate));
  });
  return sum;
}

/**
 * Returns the noisy register count for which the estimate is `people`. Without noise, this count is the expected count.
 * With noise, inverting the expected count would overestimate people on average, because the inverse is convex. Adding
 * c/2 times the noise variance to the count removes this bias. Here c is the inverse's second derivative divided by its
 * first derivative.
 */
export function registersForEstimate(size: LiquidLegionsSize, people: number, noiseVariance: number): number {
  if (noiseVariance === 0) return expectedRegisters(size, people);
  const { registers, slope, curvature } = sketchMoments(size, people);
  // The sketch is so full that more people would hit no more registers, so every finite count is too low.
  if (slope === 0) return Number.POSITIVE_INFINITY;
  return registers + (noiseVariance / 2) * (curvature / slope ** 2);
}

/**
 * Returns the number of people represented by a register count that has noise of this variance. The result is rounded
 * down and at most 2^53 − 1. Throws a RangeError if every register is hit, because the number of people then has no
 * upper bound.
 */
export function estimatePeople(size: LiquidLegionsSize, registers: number, noiseVariance = 0): number {
  if (!(registers < size.maxSize)) {
    throw new RangeError('every register of the sketch is hit: raise maxSize or decayRate');
  }
  if (registers <= 0) return 0;
  const count = (people: number) => registersForEstimate(size, people, noiseVariance);
  const crossing = firstAbove(count, registers, { precision: 1e-12 });
  if (crossing >= Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  let people = Math.floor(crossing);
  // Correct the rounding errors. The result is the largest whole number of people whose count is at most `registers`.
  while (people > 0 && count(people) > registers) people--;
  while (count(people + 1) <= registers) people++;
  return people;
}

export interface LiquidLegionsReachParams extends LiquidLegionsSize {
  reach: number;
  width: number;
  /** The variance of the duchies' combined noise on the register count. */
  noiseVariance: number;
}

/**
 * Returns the variance of a reach estimate. The variance comes from the random choice of registers, the noise, and
 * sampling.
 */
export function liquidLegionsReachVariance(params: LiquidLegionsReachParams): number {
  const { reach, width, noiseVariance } = params;
  const people = Math.max(0, reach) * width;
  const { variance, slope } = sketchMoments(params, people);
  return (variance + noiseVariance) / (width * slope) ** 2 + Math.max(0, reach) * (1 / width - 1);
}

/** The terms of a covariance that depend on one sketch alone. */
interface SketchTerms {
  /** For each register, the probability that it is empty. */
  empty: Float64Array;
  hit: number;
  slope: number;
}

/**
 * Computes covariances of reach estimates from sketches of one size and one sampling interval. A report needs the
 * covariance of every pair of sketches, so values that depend only on the size or on one sketch are computed once.
 */
export class LiquidLegionsCovariances {
  private readonly width: number;
  private readonly probabilities: Float64Array;
  private readonly rates: Float64Array;
  private readonly weights: Float64Array;
  /** The terms of each sketch, by the number of people in its sample. */
  private readonly sketches = new Map<number, SketchTerms>();

  constructor(size: LiquidLegionsSize & { width: number }) {
    this.width = size.width;
    const registers: [p: number, rate: number, weight: number][] = [];
    forEachRegister(size, (...register) => registers.push(register), covarianceBlocks(size));
    this.probabilities = Float64Array.from(registers, ([p]) => p);
    this.rates = Float64Array.from(registers, ([, rate]) => rate);
    this.weights = Float64Array.from(registers, ([, , weight]) => weight);
  }

  /**
   * Returns the covariance of the estimates of two reaches that share `overlap` people. A person is in the same
   * register of every sketch, so the errors of sketches that share people are correlated. Pass `noiseVariance`, the
   * variance of the noise on the register count, only if both reaches come from the same sketch. In that case, the
   * covariance equals the variance that `liquidLegionsReachVariance` returns.
   */
  of(reaches: readonly [number, number], overlap: number, noiseVariance = 0): number {
    const { width, probabilities, rates, weights } = this;
    const [first, second] = [Math.max(0, reaches[0]) * width, Math.max(0, reaches[1]) * width];
    const both = Math.min(Math.max(0, overlap) * width, first, second);
    if (both === 0 && noiseVariance === 0) return 0;
    const [a, b] = [this.sketch(first), this.sketch(second)];
    let common = 0;
    for (let i = 0; i < rates.length; i++) {
      const [rate, p] = [rates[i]!, probabilities[i]!];
      const bothEmpty = Math.exp((both - first - second) * rate);
      const product = a.empty[i]! * b.empty[i]!;
      // Compute the covariance of two events: the register is empty in the first sketch, and the same register is empty
      // in the second. If few of the shared people hit the register, a difference of probabilities would lose most of
      // its digits, so use expm1.
      const difference = both * rate < FEW ? -Math.expm1(-both * rate) * bothEmpty : bothEmpty - product;
      common += weights[i]! * (difference + both * p ** 2 * product);
    }
    const registers = common - both * a.hit * b.hit + noiseVariance;
    return registers / (width * a.slope * width * b.slope) + (both / width) * (1 / width - 1);
  }

  private sketch(people: number): SketchTerms {
    const known = this.sketches.get(people);
    if (known !== undefined) return known;
    const { probabilities, rates, weights } = this;
    const empty = rates.map((rate) => Math.exp(-people * rate));
    const sum = (values: Float64Array) =>
      empty.reduce((total, value, i) => total + weights[i]! * values[i]! * value, 0);
    const terms = { empty, hit: sum(probabilities), slope: sum(rates) };
    this.sketches.set(people, terms);
    return terms;
  }
}

/** If fewer shared people than this hit a register on average, a difference of probabilities has few correct digits. */
const FEW = 1e-3;

export interface LiquidLegionsFrequencyParams extends Omit<LiquidLegionsReachParams, 'noiseVariance'> {
  /**
   * The number of possible sampling indicators. An indicator is a hash of the VID. Two people in one register rarely
   * have the same indicator.
   */
  samplingIndicatorSize: number;
  maximumFrequency: number;
  /** The variance of the duchies' combined noise on the number of registers at each frequency. */
  frequencyNoiseVariance: number;
}

/**
 * Returns the variance of each share of a frequency distribution, using the delta method (docs/privacy.md).
 * `buckets[i]` is the number of frequencies that `shares[i]` covers, 1 by default.
 *
 * Shares are computed from the registers that seem to hold one person. The people in these registers are a sample of
 * all people, drawn without replacement. Some of these registers hold several people, all with the same sampling
 * indicator. The fraction of such mistaken registers bounds the bias of a share, so the square of this fraction is
 * added to the variance.
 */
export function liquidLegionsShareVariances(
  params: LiquidLegionsFrequencyParams,
  shares: readonly number[],
  buckets: readonly number[] = shares.map(() => 1),
): number[] {
  const { reach, maximumFrequency, frequencyNoiseVariance: noise } = params;
  const { alone, mistaken } = expectedWithFrequency(params);
  // If noise alone can explain the counts, the shares are unknown. A share that is uniform in [0, 1] has variance 1/12.
  const isNoise =
    Number.isFinite(noise) && alone - NORMAL_95 * Math.sqrt(alone + maximumFrequency * noise) <= 0;
  return shares.map((share, i) => {
    if (isNoise) return 1 / 12;
    const sampling = (share * (1 - share) * (reach - alone)) / (reach - 1) / alone;
    const added = (((1 - 2 * share) * buckets[i]! + maximumFrequency * share ** 2) * noise) / alone ** 2;
    return sampling + added + (mistaken / (alone + mistaken)) ** 2;
  });
}

/**
 * Returns the expected number of registers with one person (`alone`), and with several people but only one sampling
 * indicator (`mistaken`).
 */
function expectedWithFrequency(params: LiquidLegionsFrequencyParams): Record<'alone' | 'mistaken', number> {
  const { reach, width, samplingIndicatorSize } = params;
  const people = Math.max(0, reach) * width;
  let alone = 0;
  let withFrequency = 0;
  forEachRegister(params, (p, rate, weight) => {
    const empty = Math.exp(-people * rate);
    const odds = p / (1 - p);
    alone += weight * people * odds * empty;
    withFrequency +=
      weight * samplingIndicatorSize * empty * Math.expm1(people * Math.log1p(odds / samplingIndicatorSize));
  });
  return { alone, mistaken: Math.max(0, withFrequency - alone) };
}

/**
 * Calls `use` with the probability p, the rate, and the weight of each register. A register stays empty with
 * probability exp(−rate·people). The registers of a large sketch are divided into blocks, and only two registers per
 * block are visited (the two-point Gauss rule). The weight is the number of registers that each visited register
 * represents. Sums over 1,000,000 registers then have an absolute error below 10⁻⁶.
 */
function forEachRegister(
  { decayRate, maxSize }: LiquidLegionsSize,
  use: (p: number, rate: number, weight: number) => void,
  blocks = BLOCKS,
): void {
  const step = decayRate / maxSize;
  const first = Math.expm1(-step) / Math.expm1(-decayRate);
  const visit = (index: number, weight: number) => {
    const p = first * Math.exp(-step * index);
    use(p, Math.min(MAX_RATE, -Math.log1p(-p)), weight);
  };
  if (maxSize <= 2 * blocks) {
    for (let i = 0; i < maxSize; i++) visit(i, 1);
    return;
  }
  for (let block = 0, start = 0; block < blocks; block++) {
    const end = Math.round(((block + 1) * maxSize) / blocks);
    const length = end - start;
    const center = (start + end - 1) / 2;
    const offset = Math.sqrt((length ** 2 - 1) / 12);
    visit(center - offset, length / 2);
    visit(center + offset, length / 2);
    start = end;
  }
}

const BLOCKS = 2048;

/**
 * The number of blocks for covariances. This number is lower than for estimates, because covariances need fewer digits
 * and are computed for every pair of sketches. From one block to the next, p falls by less than a twelfth. Sums have a
 * relative error below 10⁻⁷.
 */
const covarianceBlocks = ({ decayRate }: LiquidLegionsSize) => Math.max(64, Math.ceil(12 * decayRate));

/**
 * Replaces an infinite rate, for a register that everybody hits. 745 is the largest integer x for which e^−x is not
 * rounded to 0.
 */
const MAX_RATE = 745;
