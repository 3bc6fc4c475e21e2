/**
 * Draws random counts fast: occupied registers of a sketch, and the noise of duchies. Thousands of draws for a sketch
 * with 100,000 registers take only seconds. Tests compare the product's formulas with these counts, so this file does
 * not use those formulas.
 */
import type { MpcNoise } from '@measurement-exchange/mpc/sketches';
import type { Dice } from './world.ts';

export interface Size {
  maxSize: number;
  decayRate: number;
}

/** The probability that a person falls into the register at this index. */
export function densityOf({ maxSize: m, decayRate: a }: Size, index: number): number {
  return (Math.exp((-a * index) / m) - Math.exp((-a * (index + 1)) / m)) / (1 - Math.exp(-a));
}

/** The expected number of occupied registers, summed register by register. */
export function registersOf(size: Size, people: number): number {
  let sum = 0;
  for (let i = 0; i < size.maxSize; i++) sum += 1 - (1 - densityOf(size, i)) ** people;
  return sum;
}

/**
 * The approximate variance of the number of occupied registers. The number of people is fixed, so the registers are not
 * independent. The variance is therefore that of independent registers, minus a correction.
 */
export function registersVariance(size: Size, people: number): number {
  let independent = 0;
  let covariance = 0;
  for (let i = 0; i < size.maxSize; i++) {
    const p = densityOf(size, i);
    const empty = (1 - p) ** people;
    independent += empty * (1 - empty);
    covariance += p * empty;
  }
  return independent - people * covariance ** 2;
}

const uniform = (dice: Dice) => (dice.below(2 ** 32) + 0.5) / 2 ** 32;

/** A standard normal draw by the Box–Muller method. */
function normal(dice: Dice): number {
  return Math.sqrt(-2 * Math.log(uniform(dice))) * Math.cos(2 * Math.PI * uniform(dice));
}

function binomial(n: number, p: number, dice: Dice): number {
  if (p === 1) return n;
  if (n > 3000) return Math.round(n * p + normal(dice) * Math.sqrt(n * p * (1 - p)));
  let hits = 0;
  for (let i = 0; i < n; i++) if (uniform(dice) < p) hits++;
  return hits;
}

/**
 * Returns how many of the first registers are expected to have at least 35 people each, and the fraction of people who
 * fall into these registers. Simulations treat these registers as occupied, and draw no people for them.
 */
function certainRegisters(size: Size, people: number) {
  const { maxSize, decayRate } = size;
  const full = (maxSize / decayRate) * Math.log((densityOf(size, 0) * people) / 35);
  const certain = Math.min(maxSize, Math.max(0, Math.floor(full)));
  return { certain, below: Math.expm1((-decayRate * certain) / maxSize) / Math.expm1(-decayRate) };
}

/**
 * Draws a register for each person, except for the people in the registers of `certainRegisters`. Those registers count
 * as occupied. Returns the number of occupied registers.
 */
export function thrown(size: Size, people: number, dice: Dice): number {
  const { maxSize, decayRate } = size;
  const { certain, below } = certainRegisters(size, people);
  const rest = binomial(people, 1 - below, dice);
  const hit = new Uint8Array(maxSize);
  let registers = certain;
  for (let i = 0; i < rest; i++) {
    const u = below + (1 - below) * uniform(dice);
    const at = Math.floor((-Math.log1p(u * Math.expm1(-decayRate)) / decayRate) * maxSize);
    const index = Math.min(maxSize - 1, at);
    if (hit[index] === 0) registers += hit[index] = 1;
  }
  return registers;
}

/**
 * Returns a function that draws the count of occupied registers from a normal distribution. The count is asymptotically
 * normal when its variance grows (Hwang and Janson, "Local limit theorems for finite and infinite urn models", 2008),
 * and its variance is in the hundreds here. Its expectation is treated as linear in the sample size, which varies by
 * only a few standard deviations.
 */
export function normalCounts(size: Size, people: number): (sample: number, dice: Dice) => number {
  const deviation = Math.sqrt(registersVariance(size, people));
  const expected = registersOf(size, people);
  const slope = (registersOf(size, people * 1.01) - registersOf(size, people * 0.99)) / (0.02 * people);
  return (sample, dice) => Math.round(expected + slope * (sample - people) + deviation * normal(dice));
}

/**
 * Draws the count of occupied registers for `draws` random samples of `reach` people. Each person is in a sample with
 * the probability `width`. Simulates small samples person by person, and uses the normal distribution for large
 * samples.
 */
export function drawCounts(size: Size, reach: number, width: number, draws: number, dice: Dice): number[] {
  const people = reach * width;
  const isMany = people * (1 - certainRegisters(size, people).below) > MAX_THROWN;
  const count = isMany ? normalCounts(size, people) : (n: number) => thrown(size, n, dice);
  return Array.from({ length: draws }, () => count(binomial(reach, width, dice), dice));
}

/**
 * The maximum number of people to simulate one by one. Above this number, the normal distribution is used. Simulations
 * of sketches with 1,000 registers never need more people.
 */
const MAX_THROWN = 4000;

/**
 * Returns a function that draws the sum of all duchies' noise. Each duchy's noise has the distribution of
 * `drawMpcNoise`, but without the added offset, and is drawn from a table.
 */
export function noiseSource(noise: MpcNoise, duchies: number, dice: Dice): () => number {
  const part = partSource(noise, dice);
  return () => {
    let sum = 0;
    for (let i = 0; i < duchies; i++) sum += part();
    return sum;
  };
}

function partSource(noise: MpcNoise, dice: Dice): () => number {
  const { offset } = noise;
  switch (noise.mechanism) {
    case 'DISCRETE_GAUSSIAN': {
      const weights = Array.from({ length: 2 * offset + 1 }, (_, i) =>
        Math.exp(-((i - offset) ** 2) / (2 * noise.workerSigma ** 2)),
      );
      const draw = tableSource(weights, dice);
      return () => draw() - offset;
    }
    case 'GEOMETRIC': {
      // The noise is the difference of two negative binomials of shape 1/workers. Each weight is the previous weight
      // times q (k − 1 + shape) / k, where q is exp(−1/scale).
      const weights = [1];
      for (let k = 1; k <= offset; k++) {
        weights.push((weights[k - 1]! * Math.exp(-1 / noise.scale) * (k - 1 + 1 / noise.workers)) / k);
      }
      const draw = tableSource(weights, dice);
      return () => draw() - draw();
    }
    case 'NONE':
      return () => 0;
  }
}

/** Returns a function that draws an index with these weights, by binary search in the cumulative sums. */
function tableSource(weights: number[], dice: Dice): () => number {
  const sums = new Float64Array(weights.length);
  let sum = 0;
  for (const [i, weight] of weights.entries()) sums[i] = sum += weight;
  return () => {
    const drawn = uniform(dice) * sum;
    let [low, high] = [0, weights.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < drawn) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
