/** Calibrates noise: computes how wide the noise must be for (ε, δ)-differential privacy. */
import type { PrivacyParams } from '@measurement-exchange/contract';
import { erfc, erfcx, erfcxDrop, expMinusSquare } from './erfc.ts';
import { exactRational, type Rational, roundedUp, toNumber } from './rational.ts';

/** The upper limit on σ. Results with more noise would be useless, and σ² must remain a finite double. */
const MAX_SIGMA = 1e100;

/** Returns the standard deviation of continuous Gaussian noise for (ε, δ), using Balle and Wang's mechanism (2018). */
export function gaussianSigma(params: PrivacyParams, sensitivity = 1): number {
  checkGaussian(params);
  checkSensitivity(sensitivity);
  const enough = (sigma: number) => gaussianDelta(sigma, params.epsilon) <= params.delta;
  let high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > MAX_SIGMA) throw new RangeError('privacyParams ask for too much noise: raise them');
  }
  let low = high / 2;
  while (enough(low)) low /= 2;
  return sensitivity * leastEnough(low, high, enough);
}

/**
 * Returns the δ that continuous Gaussian noise with this σ achieves at this ε and sensitivity 1. A larger σ has a
 * smaller δ.
 */
function gaussianDelta(sigma: number, epsilon: number): number {
  const low = (sigma * epsilon - 1 / (2 * sigma)) / Math.SQRT2;
  return tailDifference(low, 1 / sigma / Math.SQRT2, 0);
}

/**
 * Computes (erfc(low) − (1 − gap) exp(high² − low²) erfc(high)) / 2, where high = low + step ≥ 0. With gap = 0, this is
 * the difference that papers on privacy write as SF(√2 · low) − e^ε SF(√2 · high). Here SF is the survival function of
 * the normal distribution, and ε is high² − low². Both terms have the factor exp(−low²). The factor is computed
 * separately, so that e^ε cannot overflow and small differences stay precise.
 */
function tailDifference(low: number, step: number, gap: number): number {
  const factor = expMinusSquare(low);
  if (low < -1) return (erfc(low) - (1 - gap) * erfcx(low + step) * factor) / 2;
  return (factor * (erfcxDrop(low, step) + gap * erfcx(low + step))) / 2;
}

/**
 * Returns the σ that `drawNoise` uses for (ε, δ): the σ of continuous noise, or a larger σ if discrete noise needs
 * more.
 */
export function discreteGaussianSigma(params: PrivacyParams, sensitivity: number | bigint = 1): number {
  return Math.sqrt(toNumber(discreteGaussianSigmaSquared(params, sensitivity)));
}

/**
 * A cache of calibrations. A calibration takes a few milliseconds, and computing one result draws noise many times with
 * the same parameters.
 */
const calibrations = new Map<string, Rational>();
const MAX_CALIBRATIONS = 256;

/** Returns σ² of the discrete Gaussian, rounded up to a fraction that the sampler accepts. */
export function discreteGaussianSigmaSquared(params: PrivacyParams, sensitivity: number | bigint): Rational {
  const { epsilon, delta } = params;
  const key = `${epsilon} ${delta} ${sensitivity}`;
  let calibrated = calibrations.get(key);
  if (calibrated === undefined) {
    calibrated = calibrate(params, wholeSensitivity(sensitivity));
    if (calibrations.size >= MAX_CALIBRATIONS) calibrations.clear();
    calibrations.set(key, calibrated);
  }
  return calibrated;
}

function calibrate(params: PrivacyParams, sensitivity: number): Rational {
  const enough = (sigma: number) => discreteGaussianDelta(sigma, params.epsilon, sensitivity) <= params.delta;
  let sigma = gaussianSigma(params, sensitivity);
  if (!enough(sigma)) {
    let step = 2 ** -20;
    while (!enough(sigma * (1 + step))) step *= 2;
    sigma = leastEnough(sigma, sigma * (1 + step), enough);
  }
  // The margin of 4e-9 covers the computation error of δ. Check the rounded variance again, because for discrete noise,
  // a slightly larger σ may have a slightly larger δ.
  for (let variance = sigma * sigma * (1 + 4e-9); ; variance *= 1 + 1e-9) {
    const rational = roundedUp(exactRational(variance));
    if (enough(Math.sqrt(toNumber(rational)))) return rational;
  }
}

/**
 * The conditions under which `discreteGaussianDelta` replaces its sum over integers with the Euler–Maclaurin expansion.
 * σ must be at least SMOOTH_SIGMA, and the rate (sensitivity / σ²) at most SMOOTH_RATE. Under these conditions, the
 * first omitted term changes σ by less than 1e-10 of its value.
 */
const SMOOTH_SIGMA = 500;
const SMOOTH_RATE = 1 / 20;

/**
 * Returns the δ of discrete Gaussian noise Y at ε and sensitivity Δ: P[Y > a] − e^ε P[Y > a + Δ], where a = εσ²/Δ − Δ/2
 * (Canonne, Kamath, and Steinke 2020, theorem 7). The function adds up P[Y = y] (1 − exp(−Δ(y − a)/σ²)) over y > a, or
 * approximates this sum if σ is large. All terms are positive, so no precision is lost to cancellation.
 */
export function discreteGaussianDelta(sigma: number, epsilon: number, sensitivity: number): number {
  const variance = sigma * sigma;
  const a = (epsilon * variance) / sensitivity - sensitivity / 2;
  const rate = sensitivity / variance;
  const smooth = sigma >= SMOOTH_SIGMA && rate <= SMOOTH_RATE;
  const first = Math.floor(a) + 1;
  const sum = smooth ? smoothSum(first, a, sigma, sensitivity) : directSum(first, a, sigma, rate);
  return sum / totalWeight(sigma);
}

function directSum(first: number, a: number, sigma: number, rate: number): number {
  let sum = 0;
  for (let y = first; ; y++) {
    const weight = Math.exp(-((y / sigma) ** 2) / 2);
    sum += weight * -Math.expm1(-rate * (y - a));
    if (y > 0 && weight <= sum * 1e-18) return sum;
  }
}

/**
 * Approximates the sum of g(y) = exp(−y²/2σ²) (1 − exp(−Δ(y − a)/σ²)) over the integers y ≥ `first`, where Δ is the
 * sensitivity. The result is the integral of g from `first` to infinity, plus g/2 − g′/12 at `first`.
 */
function smoothSum(first: number, a: number, sigma: number, sensitivity: number): number {
  const rate = sensitivity / (sigma * sigma);
  const gap = -Math.expm1(-rate * (first - a));
  const slope = (-first / (sigma * sigma)) * gap + rate * (1 - gap);
  const low = first / sigma / Math.SQRT2;
  const integral =
    sigma * Math.sqrt(2 * Math.PI) * tailDifference(low, sensitivity / sigma / Math.SQRT2, gap);
  return integral + expMinusSquare(low) * (gap / 2 - slope / 12);
}

/** Computes the sum of exp(−y²/2σ²) over all integers y. For σ ≥ 1, Poisson summation needs only three terms. */
function totalWeight(sigma: number): number {
  if (sigma >= 1) {
    const q = Math.exp(-2 * Math.PI * Math.PI * sigma * sigma);
    return sigma * Math.sqrt(2 * Math.PI) * (1 + 2 * q + 2 * q ** 4);
  }
  let sum = 1;
  for (let y = 1; y <= SMALL_SIGMA_REACH; y++) sum += 2 * expMinusSquare(y / sigma / Math.SQRT2);
  return sum;
}

/** The largest integer to include in sums for σ < 2. Larger integers have weights below 1e-20. */
const SMALL_SIGMA_REACH = 20;

/** Returns the variance of the discrete Gaussian with parameter σ, which is below σ² if σ is small. */
export function discreteGaussianVariance(sigma: number): number {
  // The relative difference from σ² is 8π²σ² exp(−2π²σ²), which is 2e-32 at σ = 2.
  if (sigma >= 2) return sigma * sigma;
  let sum = 0;
  for (let y = 1; y <= SMALL_SIGMA_REACH; y++) sum += 2 * y * y * expMinusSquare(y / sigma / Math.SQRT2);
  return sum / totalWeight(sigma);
}

/** Returns the scale of Laplace noise, sensitivity / ε, rounded up to a fraction for the sampler. */
export function laplaceScale(params: PrivacyParams, sensitivity: number | bigint = 1): Rational {
  checkEpsilon(params);
  const { numerator, denominator } = exactRational(params.epsilon);
  const whole = BigInt(wholeSensitivity(sensitivity));
  return roundedUp({ numerator: whole * denominator, denominator: numerator });
}

/**
 * Returns the variance of the discrete Laplace (two-sided geometric) distribution: 2q/(1 − q)² with q = exp(−1/scale).
 * The code computes the equal expression 1/(2 sinh²(1/(2 · scale))).
 */
export function discreteLaplaceVariance(scale: number): number {
  return 1 / (2 * Math.sinh(1 / (2 * scale)) ** 2);
}

/**
 * Returns the smallest value between `low` and `high` for which `enough` is true, to a relative error of 1e-12.
 * `enough` must be true for `high` and false for `low`.
 */
function leastEnough(low: number, high: number, enough: (sigma: number) => boolean): number {
  while (high - low > high * 1e-12) {
    const middle = low + (high - low) / 2;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function checkEpsilon({ epsilon }: PrivacyParams): void {
  if (epsilon > 0 && Number.isFinite(epsilon)) return;
  throw new RangeError('privacyParams.epsilon must be a finite number above 0');
}

export function checkGaussian(params: PrivacyParams): void {
  checkEpsilon(params);
  if (params.delta > 0 && params.delta < 1) return;
  throw new RangeError('privacyParams.delta must be above 0 and below 1 for Gaussian noise');
}

function checkSensitivity(sensitivity: number): void {
  if (sensitivity > 0 && Number.isFinite(sensitivity)) return;
  throw new RangeError('sensitivity must be a finite number above 0');
}

function wholeSensitivity(sensitivity: number | bigint): number {
  const whole = Number(sensitivity);
  if (whole > 0 && Number.isSafeInteger(whole)) return whole;
  throw new RangeError('sensitivity must be a whole number above 0 and below 2^53: noise here is integer');
}
