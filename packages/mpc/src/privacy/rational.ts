/** Exact positive fractions: the parameters of the samplers, which know no floating point. */

/** numerator / denominator, both above 0. */
export interface Rational {
  numerator: bigint;
  denominator: bigint;
}

/** A finite double above 0 is a whole number times a power of two: this is that value, exactly. */
export function exactRational(value: number): Rational {
  if (!(value > 0 && Number.isFinite(value))) throw new RangeError('value must be a finite number above 0');
  let denominator = 1n;
  // Scaling by 2^32 only moves the exponent, so nothing is rounded; the smallest double needs 34 rounds.
  while (!Number.isInteger(value)) {
    value *= 2 ** 32;
    denominator <<= 32n;
  }
  return reduced({ numerator: BigInt(value), denominator });
}

/**
 * The least fraction with a power of two below and a numerator of about 32 bits that is not under the given
 * one. Rounding is always up: a scale may only grow on its way into the sampler.
 */
export function roundedUp({ numerator, denominator }: Rational): Rational {
  const excess = bitLength(numerator) - bitLength(denominator);
  const shift = BigInt(Math.max(0, 32 - excess));
  const scaled = numerator << shift;
  return reduced({ numerator: (scaled + denominator - 1n) / denominator, denominator: 1n << shift });
}

/** Nearest double, give or take one rounding step. */
export function toNumber({ numerator, denominator }: Rational): number {
  const shift = BigInt(64 - (bitLength(numerator) - bitLength(denominator)));
  const quotient = shift >= 0n ? (numerator << shift) / denominator : numerator / (denominator << -shift);
  // Two factors: 2^-shift alone leaves the range of a double before the value itself does.
  const half = Math.trunc(-Number(shift) / 2);
  return Number(quotient) * 2 ** half * 2 ** (-Number(shift) - half);
}

/** Without the common powers of two; other common factors would only make the sampler's numbers longer. */
function reduced({ numerator, denominator }: Rational): Rational {
  const bits = numerator | denominator;
  const common = bits & -bits;
  return { numerator: numerator / common, denominator: denominator / common };
}

function bitLength(n: bigint): number {
  return n.toString(2).length;
}
