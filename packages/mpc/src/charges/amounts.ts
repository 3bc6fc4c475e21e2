/**
 * Converts privacy amounts to integer units, so that sums are exact. One unit is 1e-9 of epsilon, 1e-18 of delta, or
 * 1e-12 of rho.
 */

/**
 * A privacy amount. The costs of Laplace noise add up in epsilon and delta (basic composition). The costs of Gaussian
 * noise add up in rho (zCDP).
 */
export interface PrivacyAmount {
  epsilon: number;
  delta: number;
  rho: number;
}

/** A privacy amount in integer units. */
export interface Units {
  epsilon: bigint;
  delta: bigint;
  rho: bigint;
}

export const MEASURES = ['epsilon', 'delta', 'rho'] as const;
export type Measure = (typeof MEASURES)[number];

const DECIMALS: Record<Measure, number> = { epsilon: 9, delta: 18, rho: 12 };

export const NOTHING: Units = { epsilon: 0n, delta: 0n, rho: 0n };

/** Converts an amount to units. Costs are rounded up, so that no release is free. Budgets are rounded down. */
export const costInUnits = (amount: Partial<PrivacyAmount>) => inUnits(amount, 'up');
export const budgetInUnits = (amount: Partial<PrivacyAmount>) => inUnits(amount, 'down');

export function addUnits(a: Units, b: Units): Units {
  return { epsilon: a.epsilon + b.epsilon, delta: a.delta + b.delta, rho: a.rho + b.rho };
}

/** Compares two amounts, and returns the larger epsilon, the larger delta, and the larger rho. */
export function largerUnits(a: Units, b: Units): Units {
  return addUnits(a, excessUnits(b, a));
}

export function excessUnits(a: Units, b: Units): Units {
  const excess = (measure: Measure) => (a[measure] > b[measure] ? a[measure] - b[measure] : 0n);
  return { epsilon: excess('epsilon'), delta: excess('delta'), rho: excess('rho') };
}

/**
 * Returns the smallest of the remaining fractions of the epsilon, delta, and rho budgets. Ignores a budget of 0,
 * because nothing can be spent from it.
 */
export function leftRatio(left: PrivacyAmount, limit: PrivacyAmount): number {
  const ratios = MEASURES.filter((measure) => limit[measure] > 0).map(
    (measure) => left[measure] / limit[measure],
  );
  return Math.min(1, ...ratios);
}

export function fromUnits(units: Units): PrivacyAmount {
  const number = (measure: Measure) => Number(`${units[measure]}e-${DECIMALS[measure]}`);
  return { epsilon: number('epsilon'), delta: number('delta'), rho: number('rho') };
}

function inUnits(amount: Partial<PrivacyAmount>, round: 'up' | 'down'): Units {
  const units = (measure: Measure) => decimalUnits(amount[measure] ?? 0, DECIMALS[measure], round);
  return { epsilon: units('epsilon'), delta: units('delta'), rho: units('rho') };
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/**
 * Converts an amount to units. Uses the number's shortest decimal text, such as 0.1, instead of the exact value of the
 * double. For 0.1, the exact value is slightly above 0.1, so ten charges of 0.1, each rounded up, would exceed a budget
 * of 1.
 */
function decimalUnits(value: number, decimals: number, round: 'up' | 'down'): bigint {
  const match = DECIMAL.exec(String(value));
  if (match === null) throw new RangeError(`${value} is not a privacy amount: it must be finite, 0 or more.`);
  const [, whole, fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const shift = decimals + Number(exponent) - fraction.length;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + (round === 'up' ? divisor - 1n : 0n)) / divisor;
}
