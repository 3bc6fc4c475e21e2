/**
 * Draws exact random samples with the algorithms of Canonne, Kamath, and Steinke, "The Discrete Gaussian for
 * Differential Privacy" (2020), section 5. The algorithms use only integers, because an attacker could exploit the
 * rounding of floating-point samples (Mironov 2012).
 */
import { type RandomSource, uniform32, uniformBelow, uniformBelow32 } from './random.ts';
import type { Rational } from './rational.ts';

/** Draws X with P[X = x] proportional to exp(−|x| / scale) over the integers (algorithm 2 of the paper). */
export function sampleDiscreteLaplace(scale: Rational, random: RandomSource): bigint {
  for (;;) {
    const magnitude = sampleGeometric(scale, random);
    const negative = (uniform32(random) & 1) === 1;
    // Accept zero with one sign only. Otherwise zero would be twice as likely as it should be.
    if (negative && magnitude === 0n) continue;
    return negative ? -magnitude : magnitude;
  }
}

/** Draws X with P[X = x] proportional to exp(−x / scale) over 0, 1, 2, … */
export function sampleGeometric(scale: Rational, random: RandomSource): bigint {
  checkPositive(scale, 'scale');
  const { numerator: t, denominator: s } = scale;
  for (;;) {
    const u = uniformBelow(t, random);
    if (!bernoulliExp(u, t, random)) continue;
    let v = 0n;
    while (bernoulliExpOne(random)) v++;
    return (u + t * v) / s;
  }
}

/**
 * Draws from the Pólya (negative binomial) distribution of shape 1/parts. The sum of `parts` such draws is a geometric
 * draw. For two parts, a fast method makes a geometric draw n and a random walk of 2n steps, and returns half the
 * number of steps before the last visit to 0 (the discrete arcsine law: Feller, III.4).
 */
export function samplePolya(scale: Rational, random: RandomSource, parts = 2): number {
  if (parts !== 2) return drawFromUrn(Number(sampleGeometric(scale, random)), parts, random);
  const steps = 2 * Number(sampleGeometric(scale, random));
  let position = 0;
  let lastZero = 0;
  let bits = 0;
  for (let step = 1; step <= steps; step++) {
    if ((step & 31) === 1) bits = uniform32(random);
    position += 1 - 2 * (bits & 1);
    bits >>>= 1;
    if (position === 0) lastZero = step;
  }
  return lastZero / 2;
}

/**
 * Puts balls into urns one by one, and returns the number of balls in the first urn. The probability that an urn gets
 * the next ball is proportional to 1/urns plus the number of balls in the urn.
 */
function drawFromUrn(balls: number, urns: number, random: RandomSource): number {
  let mine = 0;
  for (let i = 0; i < balls; i++) if (uniformBelow32(urns * (i + 1), random) < urns * mine + 1) mine++;
  return mine;
}

/** Draws X with P[X = x] proportional to exp(−x² / (2 σ²)) over the integers (algorithm 3 of the paper). */
export function sampleDiscreteGaussian(sigmaSquared: Rational, random: RandomSource): bigint {
  checkPositive(sigmaSquared, 'sigmaSquared');
  const { numerator: n, denominator: d } = sigmaSquared;
  const t = squareRoot(n / d) + 1n;
  const laplace = { numerator: t, denominator: 1n };
  const dt = d * t;
  const denominator = 2n * n * dt * t;
  for (;;) {
    const y = sampleDiscreteLaplace(laplace, random);
    // Accept y with probability exp(−(|y| − σ²/t)² / (2σ²)). The exponent is computed as one fraction.
    const distance = (y < 0n ? -y : y) * dt - n;
    if (bernoulliExp(distance * distance, denominator, random)) return y;
  }
}

/** Returns true with probability exp(−numerator / denominator) (algorithm 1 of the paper). */
export function bernoulliExp(numerator: bigint, denominator: bigint, random: RandomSource): boolean {
  while (numerator > denominator) {
    if (!bernoulliExpOne(random)) return false;
    numerator -= denominator;
  }
  for (let k = 1n; ; k++) {
    if (!bernoulli(numerator, denominator * k, random)) return (k & 1n) === 1n;
  }
}

/**
 * Returns true with probability 1/e, like `bernoulliExp` for 1/1. Omits the first trial, because that trial always
 * succeeds.
 */
function bernoulliExpOne(random: RandomSource): boolean {
  for (let k = 2; ; k++) if (uniformBelow32(k, random) !== 0) return (k & 1) === 1;
}

/**
 * Returns true with probability numerator / denominator (at most 1). Compares the fraction with a uniform number in [0,
 * 1), 32 binary digits at a time. Draws more digits only while all digits so far are equal.
 */
function bernoulli(numerator: bigint, denominator: bigint, random: RandomSource): boolean {
  if (numerator >= denominator) return true;
  for (;;) {
    const scaled = numerator << 32n;
    const digits = Number(scaled / denominator);
    const drawn = uniform32(random);
    if (drawn !== digits) return drawn < digits;
    numerator = scaled % denominator;
  }
}

/** Returns the square root, rounded down. Uses Newton's method, starting from a number that is too large. */
function squareRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let root = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

function checkPositive({ numerator, denominator }: Rational, name: string): void {
  if (numerator > 0n && denominator > 0n) return;
  throw new RangeError(`${name} must have a numerator and a denominator above 0`);
}
