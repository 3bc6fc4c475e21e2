/** The complementary error function, with a relative error of about 1e-15 even for the smallest results. */

const SQRT_PI = Math.sqrt(Math.PI);

/** Computes 2/√π ∫ exp(−t²) dt from x to infinity. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  return x < 1 ? 1 - erf(x) : erfcx(x) * expMinusSquare(x);
}

/** Computes exp(x²) erfc(x) for x ≥ −1. Unlike erfc(x), this product does not underflow for large x. */
export function erfcx(x: number): number {
  if (x < 1) return (1 - erf(x)) / expMinusSquare(x);
  // Lentz's method evaluates the continued fraction 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))).
  let value = x;
  let c = x;
  let d = 0;
  for (let n = 1; n < 1000; n++) {
    d = 1 / (x + (n / 2) * d);
    c = x + n / 2 / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return 1 / (value * SQRT_PI);
}

/**
 * Computes erfcx(x) − erfcx(x + step) for x ≥ −1. For a short step, subtracting the two almost equal values would lose
 * precision. In this case, the function integrates minus the slope, 2/√π − 2t erfcx(t), with five-point Gauss–Legendre
 * quadrature.
 */
export function erfcxDrop(x: number, step: number): number {
  if (step > 0.1) return erfcx(x) - erfcx(x + step);
  let sum = 0;
  for (const [point, weight] of GAUSS_LEGENDRE) {
    const t = x + (step / 2) * (1 + point);
    sum += weight * (2 / SQRT_PI - 2 * t * erfcx(t));
  }
  return (step / 2) * sum;
}

const GAUSS_LEGENDRE: [point: number, weight: number][] = [
  [-0.906179845938664, 0.23692688505618908],
  [-0.5384693101056831, 0.47862867049936647],
  [0, 0.5688888888888889],
  [0.5384693101056831, 0.47862867049936647],
  [0.906179845938664, 0.23692688505618908],
];

/**
 * Computes erf for |x| ≤ 1 with a series. All its terms have the same sign, so no precision is lost to cancellation.
 */
function erf(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / SQRT_PI) * expMinusSquare(x) * sum;
}

/** Computes exp(−x²). Splits x in two, because a rounding error of x² would become a relative error of the result. */
export function expMinusSquare(x: number): number {
  if (Math.abs(x) > 30) return 0;
  const high = Math.fround(x);
  return Math.exp(-high * high) * Math.exp(-(x - high) * (x + high));
}
