/**
 * How many people a Liquid Legions sketch stands for, and how far that may be from the truth. Register i of m is hit with
 * probability p_i = C e^(−a i / m), where a is the decay rate and C makes them add up to 1; so y people leave it empty with
 * probability (1 − p_i)^y. Everything is a sum over registers, added up as it is: no approximation by an integral.
 */
import { NORMAL_95 } from './variance.ts';

export interface LiquidLegionsSize {
  /** The lowest register is e^decayRate times as likely as the highest. */
  decayRate: number;
  /** How many registers there are. */
  maxSize: number;
}

/** How many registers have somebody, expected for so many people. */
export function expectedRegisters(size: LiquidLegionsSize, people: number): number {
  let sum = 0;
  forEachRegister(size, (p) => {
    sum -= Math.expm1(people * Math.log1p(-p));
  });
  return sum;
}

/**
 * The number of people for which so many registers are expected, rounded down. A sketch with all registers hit stands for any
 * number of people, and is a RangeError.
 */
export function estimatePeople(size: LiquidLegionsSize, registers: number): number {
  if (!(registers < size.maxSize)) {
    throw new RangeError('every register of the sketch is hit: raise maxSize or decayRate');
  }
  if (registers <= 0) return 0;
  let high = 1;
  while (expectedRegisters(size, high) <= registers) high *= 2;
  let low = high / 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (expectedRegisters(size, middle) <= registers) low = middle;
    else high = middle;
  }
  return low;
}

export interface LiquidLegionsReachParams extends LiquidLegionsSize {
  reach: number;
  /** Width of the VID sampling interval. */
  width: number;
  /** Of the duchies' noise together, on the count of registers. */
  noiseVariance: number;
}

/** Variance of a reach: of the registers that people happen to hit, of the noise, and of the sample. */
export function liquidLegionsReachVariance(params: LiquidLegionsReachParams): number {
  const { reach, width, noiseVariance } = params;
  const people = Math.max(0, reach) * width;
  let variance = noiseVariance;
  let hit = 0;
  forEachRegister(params, (p) => {
    const empty = Math.exp(people * Math.log1p(-p));
    variance += empty - empty ** 2 + people * (p * empty) ** 2;
    hit += p * empty;
  });
  variance -= people * hit ** 2;
  return variance / (width * hit) ** 2 + Math.max(0, reach) * (1 / width - 1);
}

export interface LiquidLegionsFrequencyParams extends Omit<LiquidLegionsReachParams, 'noiseVariance'> {
  /** How many sampling indicators there are: people of one register have the same one by chance only. */
  samplingIndicatorSize: number;
  maximumFrequency: number;
  /** Of the duchies' noise together, on the count of registers at one frequency. */
  frequencyNoiseVariance: number;
}

/**
 * Variance of each share of a frequency distribution, by the delta method (docs/privacy.md). A register has a frequency
 * where one person is in it. Who is alone does not depend on how often they were reached, so these people are a sample
 * without replacement out of all, and every frequency has noise of its own. Several people of one register with the same
 * sampling indicator are taken for one; the share of such registers bounds the bias, and its square is added.
 */
export function liquidLegionsShareVariances(
  params: LiquidLegionsFrequencyParams,
  shares: readonly number[],
): number[] {
  const { reach, maximumFrequency, frequencyNoiseVariance: noise } = params;
  const { alone, mistaken } = expectedWithFrequency(params);
  // Counts that may be all noise say nothing about shares: a uniform share in [0, 1] has variance 1/12.
  const isNoise =
    Number.isFinite(noise) && alone - NORMAL_95 * Math.sqrt(alone + maximumFrequency * noise) <= 0;
  return shares.map((share) => {
    if (isNoise) return 1 / 12;
    const sampling = (share * (1 - share) * (reach - alone)) / (reach - 1) / alone;
    const added = ((1 - 2 * share + maximumFrequency * share ** 2) * noise) / alone ** 2;
    return sampling + added + (mistaken / (alone + mistaken)) ** 2;
  });
}

/** How many registers are expected to have one person, and how many several with the same sampling indicator. */
function expectedWithFrequency(params: LiquidLegionsFrequencyParams): Record<'alone' | 'mistaken', number> {
  const { reach, width, samplingIndicatorSize } = params;
  const people = Math.max(0, reach) * width;
  let alone = 0;
  let withFrequency = 0;
  forEachRegister(params, (p) => {
    const empty = Math.exp(people * Math.log1p(-p));
    const odds = p / (1 - p);
    alone += people * odds * empty;
    withFrequency +=
      samplingIndicatorSize * empty * Math.expm1(people * Math.log1p(odds / samplingIndicatorSize));
  });
  return { alone, mistaken: Math.max(0, withFrequency - alone) };
}

/** Calls with the probability of each register. */
function forEachRegister({ decayRate, maxSize }: LiquidLegionsSize, use: (p: number) => void): void {
  const step = decayRate / maxSize;
  const first = Math.expm1(-step) / Math.expm1(-decayRate);
  for (let i = 0; i < maxSize; i++) use(first * Math.exp(-step * i));
}
