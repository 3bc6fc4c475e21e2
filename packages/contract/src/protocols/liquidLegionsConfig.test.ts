import { describe, expect, it, test } from 'vitest';
import { liquidLegionsViolations, ringOf } from './liquidLegionsConfig.ts';
import type { LiquidLegionsConfig } from './protocolConfig.ts';

const [ALPHA, BETA, GAMMA] = ['duchies/alpha', 'duchies/beta', 'duchies/gamma'] as const;
const HIDING = { epsilon: 0.1, delta: 1e-9 };
const CONFIG: LiquidLegionsConfig = {
  ...{ workers: [ALPHA, BETA], aggregator: GAMMA, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12, maxSize: 100_000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
};
const FREQUENCY: LiquidLegionsConfig = {
  ...CONFIG,
  ...{ samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
};

it('the aggregator comes last in the ring', () => {
  expect(ringOf({ workers: [BETA, ALPHA], aggregator: GAMMA })).toEqual([BETA, ALPHA, GAMMA]);
});

describe('a Liquid Legions config', () => {
  it('is valid at its limits', () => {
    expect(liquidLegionsViolations(CONFIG)).toEqual([]);
    expect(liquidLegionsViolations(FREQUENCY)).toEqual([]);
    const hiding = { epsilon: 1, delta: 1e-5 };
    const most = {
      ...{ decayRate: 100, maxSize: 1_000_000, samplingIndicatorSize: 2 ** 32 - 2, maximumFrequency: 100 },
      ...{ histogramPrivacyParams: hiding, publisherPrivacyParams: hiding },
      workers: Array.from({ length: 10 }, (_, i) => `duchies/d${i}`),
    };
    expect(liquidLegionsViolations({ ...CONFIG, ...most })).toEqual([]);
    const least = { maxSize: 1, samplingIndicatorSize: 1, maximumFrequency: 2, workers: [ALPHA] };
    expect(liquidLegionsViolations({ ...CONFIG, ...least, decayRate: 1e-9 })).toEqual([]);
  });

  test.each<[string, Partial<LiquidLegionsConfig>, string]>([
    ['no workers', { workers: [] }, 'workers'],
    ['eleven workers', { workers: Array.from({ length: 11 }, (_, i) => `duchies/d${i}`) }, 'workers'],
    ['a duplicate worker', { workers: [ALPHA, ALPHA] }, 'workers'],
    ['the aggregator as a worker', { workers: [ALPHA, GAMMA] }, 'workers'],
    ['a decay rate of 0', { decayRate: 0 }, 'decayRate'],
    ['a decay rate of NaN', { decayRate: Number.NaN }, 'decayRate'],
    ['a decay rate above 100', { decayRate: 100.1 }, 'decayRate'],
    ['no registers', { maxSize: 0 }, 'maxSize'],
    ['a fractional number of registers', { maxSize: 1.5 }, 'maxSize'],
    ['too many registers', { maxSize: 1_000_001 }, 'maxSize'],
    ['no indicators', { samplingIndicatorSize: 0 }, 'samplingIndicatorSize'],
    ['too many indicators', { samplingIndicatorSize: 2 ** 32 - 1 }, 'samplingIndicatorSize'],
    ['a maximum frequency of 1', { maximumFrequency: 1 }, 'maximumFrequency'],
    ['a maximum frequency above 100', { maximumFrequency: 101 }, 'maximumFrequency'],
    [
      'an epsilon of 0',
      { histogramPrivacyParams: { epsilon: 0, delta: 1e-9 } },
      'histogramPrivacyParams.epsilon',
    ],
    [
      'an epsilon above 1',
      { publisherPrivacyParams: { epsilon: 1.1, delta: 1e-9 } },
      'publisherPrivacyParams.epsilon',
    ],
    ['a delta of 0', { publisherPrivacyParams: { epsilon: 1, delta: 0 } }, 'publisherPrivacyParams.delta'],
    [
      'a delta above 1e-5',
      { histogramPrivacyParams: { epsilon: 1, delta: 1.1e-5 } },
      'histogramPrivacyParams.delta',
    ],
  ])('with %s is rejected', (_what, change, field) => {
    const violations = liquidLegionsViolations({ ...FREQUENCY, ...change });
    expect(violations.map((violation) => violation.field)).toEqual([field]);
  });
});
