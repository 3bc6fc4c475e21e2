import { describe, expect, test } from 'vitest';
import { erfc, erfcx, erfcxDrop } from './erfc.ts';
import { toNumber } from './rational.ts';
import {
  discreteGaussianDelta,
  discreteGaussianSigma,
  discreteGaussianSigmaSquared,
  discreteGaussianVariance,
  discreteLaplaceVariance,
  gaussianSigma,
  laplaceScale,
} from './sigma.ts';

const relativeError = (value: number, exact: number) => Math.abs(value / exact - 1);

describe('the complementary error function', () => {
  test.each([
    [-1, 1.8427007929497148],
    [0, 1],
    [0.1, 0.8875370839817152],
    [0.5, 0.4795001221869535],
    [1, 0.15729920705028513],
    [2, 0.004677734981047266],
    [3, 2.209049699858544e-5],
    [5, 1.5374597944280349e-12],
    [10, 2.088487583762545e-45],
    [20, 5.395865611607901e-176],
    [25.7, 3.1188999330073835e-289],
    [26, 5.663192408856143e-296],
  ])('at %d is %d to fourteen digits', (x, exact) => {
    expect(relativeError(erfc(x), exact)).toBeLessThan(1e-14);
  });

  test('is continuous at the switch from the series to the continued fraction', () => {
    expect(relativeError(erfcx(1 - 1e-15), erfcx(1))).toBeLessThan(1e-14);
  });

  test('is 0 or 2, and not NaN, for huge arguments', () => {
    expect(erfc(1e200)).toBe(0);
    expect(erfc(-1e200)).toBe(2);
  });

  test('loses no digits in the difference of two nearly equal arguments', () => {
    // For a small step, erfcxDrop(4, step) / step is −erfcx′(4) = 2/√π − 8 erfcx(4). The constant is erfcx(4) to all
    // digits of a double.
    const slope = 2 / Math.sqrt(Math.PI) - 8 * 0.13699945762506138;
    expect(relativeError(erfcxDrop(4, 1e-9) / 1e-9, slope)).toBeLessThan(1e-9);
    expect(relativeError(erfcxDrop(4, 0.1), erfcx(4) - erfcx(4.1))).toBeLessThan(1e-12);
  });
});

describe('the analytic Gaussian', () => {
  test.each([
    [1, 1e-5, 3.731],
    [1, 1e-9, 5.495],
    [1, 1e-12, 6.558],
    [0.1, 1e-9, 50.21],
    [0.115, 1e-12, 53.71],
    [0.0041, 1e-12, 1377.1],
    [0.0033, 1e-12, 1700.2],
    [0.0011, 1e-12, 4934.9],
  ])('for epsilon %d and delta %d has sigma %d', (epsilon, delta, sigma) => {
    expect(relativeError(gaussianSigma({ epsilon, delta }), sigma)).toBeLessThan(1.4e-4);
  });

  test('is precise for a tiny epsilon, when delta is about 1 / (σ √2π)', () => {
    for (const delta of [1e-6, 1e-12, 1e-30]) {
      const sigma = gaussianSigma({ epsilon: delta ** 3, delta });
      expect(relativeError(sigma, 1 / (delta * Math.sqrt(2 * Math.PI)))).toBeLessThan(1e-10);
    }
  });

  test('is proportional to the sensitivity, and does not overflow for a large epsilon', () => {
    expect(gaussianSigma({ epsilon: 1, delta: 1e-5 }, 7)).toBeCloseTo(7 * 3.7306316, 5);
    expect(gaussianSigma({ epsilon: 5000, delta: 1e-9 })).toBeCloseTo(0.0106, 4);
  });

  test('rejects invalid parameters with the name of the field', () => {
    for (const delta of [0, 1, -1e-9, Number.NaN]) {
      expect(() => gaussianSigma({ epsilon: 1, delta })).toThrow(/privacyParams\.delta/);
    }
    for (const epsilon of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => gaussianSigma({ epsilon, delta: 1e-9 })).toThrow(/privacyParams\.epsilon/);
      expect(() => laplaceScale({ epsilon, delta: 0 })).toThrow(/privacyParams\.epsilon/);
    }
    expect(() => gaussianSigma({ epsilon: 1e-200, delta: 1e-200 })).toThrow(/too much noise/);
    for (const sensitivity of [0, 1.5, -1, 2 ** 53]) {
      expect(() => discreteGaussianSigma({ epsilon: 1, delta: 1e-9 }, sensitivity)).toThrow(/sensitivity/);
    }
  });
});

/** Computes δ from its definition, Σ max(0, P[Y = y] − e^ε P[Y = y + Δ]), over all terms that are not negligible. */
function deltaByDefinition(sigma: number, epsilon: number, sensitivity: number): number {
  const reach = Math.ceil(12 * sigma) + 2;
  const logWeight = (y: number) => -(y * y) / (2 * sigma * sigma);
  let total = 0;
  let excess = 0;
  for (let y = -reach; y <= reach; y++) {
    total += Math.exp(logWeight(y));
    excess += Math.max(0, Math.exp(logWeight(y)) - Math.exp(epsilon + logWeight(y + sensitivity)));
  }
  return excess / total;
}

describe('the discrete Gaussian', () => {
  test.each([
    [0.3, 5, 1],
    [0.9, 1, 1],
    [3.7, 1, 1],
    [20, 1, 5],
    [100, 0.1, 3],
    [499, 0.012, 1],
    [501, 0.012, 1],
    [2500, 2, 3000],
    [3000, 8, 12_000],
    [30_000, 0.5, 6000],
    [2500, 3_137_500, 6_250_000],
  ])(
    'with sigma %d at epsilon %d and sensitivity %d has the delta of the definition',
    (sigma, epsilon, s) => {
      const exact = deltaByDefinition(sigma, epsilon, s);
      expect(relativeError(discreteGaussianDelta(sigma, epsilon, s), exact)).toBeLessThan(1e-9);
    },
  );

  const grid = [10, 3, 1, 0.5, 0.1, 0.01].flatMap((epsilon) =>
    [0.5, 1e-3, 1e-5, 1e-9, 1e-12].flatMap((delta) =>
      [1, 2, 7, 100].map((sensitivity) => ({ epsilon, delta, sensitivity })),
    ),
  );

  test('has at most the requested delta, by its definition, on a grid of parameters', () => {
    for (const { epsilon, delta, sensitivity } of grid) {
      const sigma = discreteGaussianSigma({ epsilon, delta }, sensitivity);
      if (sigma > 3000) continue;
      expect(deltaByDefinition(sigma, epsilon, sensitivity)).toBeLessThanOrEqual(delta);
    }
  });

  test('has at most the requested delta with the rational sigma² of the sampler, even for large sensitivities', () => {
    for (const { epsilon, delta } of grid) {
      for (const sensitivity of [1n, 60_000n, 86_400_000n]) {
        const squared = toNumber(discreteGaussianSigmaSquared({ epsilon, delta }, sensitivity));
        const sigma = Math.sqrt(squared);
        expect(discreteGaussianDelta(sigma, epsilon, Number(sensitivity))).toBeLessThanOrEqual(delta);
        expect(sigma).toBeGreaterThan(gaussianSigma({ epsilon, delta }, Number(sensitivity)));
      }
    }
  });

  test('has a sigma above the analytic sigma only as far as the discrete distribution requires', () => {
    let raised = 0;
    for (const { epsilon, delta, sensitivity } of grid) {
      const analytic = gaussianSigma({ epsilon, delta }, sensitivity);
      const sigma = discreteGaussianSigma({ epsilon, delta }, sensitivity);
      if (sigma < analytic * (1 + 1e-6)) continue;
      raised++;
      expect(discreteGaussianDelta(sigma * (1 - 1e-7), epsilon, sensitivity)).toBeGreaterThan(delta);
    }
    expect(raised).toBeGreaterThan(20);
    // This sigma is 0.26 % larger than the 3.7306 of the continuous Gaussian.
    expect(discreteGaussianSigma({ epsilon: 1, delta: 1e-5 })).toBeCloseTo(3.74048, 5);
  });

  test('has the variance of the discrete distribution, which is below sigma² for a small sigma', () => {
    for (const sigma of [0.2, 0.5, 0.99, 1, 1.5, 1.999, 2, 3, 10]) {
      let total = 0;
      let squares = 0;
      for (let y = -200; y <= 200; y++) {
        total += Math.exp(-(y * y) / (2 * sigma * sigma));
        squares += y * y * Math.exp(-(y * y) / (2 * sigma * sigma));
      }
      expect(relativeError(discreteGaussianVariance(sigma), squares / total)).toBeLessThan(1e-12);
    }
    expect(discreteGaussianVariance(0.2)).toBeLessThan(0.04 / 1000);
  });

  test('has at most the requested delta for every change up to the sensitivity', () => {
    for (const epsilon of [0.1, 1, 10, 100]) {
      for (const delta of [1e-12, 1e-3, 0.5]) {
        const sigma = discreteGaussianSigma({ epsilon, delta }, 5);
        for (const change of [1, 2, 3, 4]) {
          expect(discreteGaussianDelta(sigma, epsilon, change)).toBeLessThanOrEqual(delta);
        }
      }
    }
  });
});

describe('Laplace noise on the integers', () => {
  test('has a scale that is never below sensitivity / epsilon', () => {
    for (const epsilon of [1e-300, 0.0033, 0.1, 1 / 3, 1, Math.LN2, 20, 1e300]) {
      for (const sensitivity of [1n, 3n, 60_000n]) {
        const { numerator, denominator } = laplaceScale({ epsilon, delta: 0 }, sensitivity);
        const exact = Number(sensitivity) / epsilon;
        expect(relativeError(toNumber({ numerator, denominator }), exact)).toBeLessThan(2 ** -30);
        expect(toNumber({ numerator, denominator })).toBeGreaterThanOrEqual(exact * (1 - 2 ** -52));
        if (epsilon > 1e-9 && epsilon < 1e9) expect(numerator).toBeLessThan(2n ** 56n);
      }
    }
    expect(laplaceScale({ epsilon: 0.1, delta: 0 })).toEqual({ numerator: 10n, denominator: 1n });
  });

  test('has the variance of the discrete distribution, not of the continuous one', () => {
    for (const scale of [0.05, 0.5, 1, 10, 300]) {
      const q = Math.exp(-1 / scale);
      expect(relativeError(discreteLaplaceVariance(scale), (2 * q) / (1 - q) ** 2)).toBeLessThan(1e-9);
    }
  });
});
