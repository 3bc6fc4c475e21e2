/**
 * Exact positive fractions. The samplers take fractions as parameters, because floating-point numbers are not exact.
 */

/** The fraction numerator / denominator. Both are above 0. */
export interface Rational {
  numerator: bigint;
  denominator: bigint;
}

/** Converts a finite double above 0 to a fraction with exactly the same value. */
export function exactRational(value: number): Rational {
  if (!(value > 0 && Number.isFinite(value))) throw new RangeError('value must be a finite number above 0');
  let denominator = 1n;
  // Multiplying by 2^32 only changes the exponent, so nothing is rounded. The smallest double takes 34 iterations.
  while (!Number.isInteger(value)) {
    value *= 2 ** 32;
    denominator <<= 32n;
  }
  return reduced({ numerator: BigInt(value), denominator });
}

/**
 * Rounds a fraction up to a fraction whose denominator is a power of two. The numerator has about 32 bits, or more if
 * the value is above 2^32. Always rounds up, because wider noise is safe and narrower noise is not.
 */
export function roundedUp({ numerator, denominator }: Rational): Rational {
  const excess = bitLength(numerator) - bitLength(denominator);
  const shift = BigInt(Math.max(0, 32 - excess));
  const scaled = numerator << shift;
  return reduced({ numerator: (scaled + denominator - 1n) / denominator, denominator: 1n << shift });
}

/** Returns the nearest double, or a double next to the nearest. */
export function toNumber({ numerator, denominator }: Rational): number {
  const shift = BigInt(64 - (bitLength(numerator) - bitLength(denominator)));
  const quotient = shift >= 0n ? (numerator << shift) / denominator : numerator / (denominator << -shift);
  // Apply 2^-shift as two factors, because 2^-shift may be out of range for a double even if the result is in range.
  const half = Math.trunc(-Number(shift) / 2);
  return Number(quotient) * 2 ** half * 2 ** (-Number(shift) - half);
}

/** Removes common powers of two, to keep the sampler's numbers short. Does not remove other common factors. */
function reduced({ numerator, denominator }: Rational): Rational {
  const bits = numerator | denominator;
  const common = bits & -bits;
  return { numerator: numerator / common, denominator: denominator / common };
}

function bitLength(n: bigint): number {
  return n.toString(2).length;
}
