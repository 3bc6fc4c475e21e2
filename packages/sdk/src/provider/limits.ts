/** How much one requisition may ask. */
import type { PlainSpec, PrivacyParams } from '@measurement-exchange/contract';
import { BUCKET_COUNT } from '../privacy/vidSampling.ts';
import { Refuse } from './refuse.ts';

/** What one requisition may ask of a provider at most; beyond it the specification is refused. */
export const LIMITS = {
  /** Event groups times days, each of which is charged. */
  days: 100_000,
  maximumFrequency: 1_000,
  maximumFrequencyPerUser: 1_000_000,
  /** In seconds. */
  maximumWatchDurationPerUser: 366 * 86_400,
  epsilon: { least: 1e-6, most: 1e6 },
  /** The least one above 0. */
  delta: 1e-30,
} as const;

/** Beyond what every exchange checks: sizes that a computation can bear, and that mean something. */
export function requireInRange(spec: PlainSpec): void {
  for (const [field, value, least, most] of sizesOf(spec)) {
    if (!(value >= least && value <= most)) throw outOfRange(field, `must be ${least} to ${most} here`);
  }
}

type Size = [field: string, value: number, least: number, most: number];

function sizesOf(spec: PlainSpec): Size[] {
  // Narrower than one of the buckets that people are hashed to, a sample has nobody in it.
  const width = spec.vidSamplingInterval?.width ?? 1;
  const sizes: Size[] = [['vidSamplingInterval.width', width, 1 / BUCKET_COUNT, 1]];
  // That the parameters are there has been verified.
  switch (spec.measurementType) {
    case 'REACH':
      return [...sizes, ...privacySizes(spec.reach.privacyParams!)];
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      const privacy = [reachPrivacyParams!, frequencyPrivacyParams!].flatMap(privacySizes);
      return [...sizes, ...privacy, ['maximumFrequency', maximumFrequency, 2, LIMITS.maximumFrequency]];
    }
    case 'IMPRESSION': {
      const { privacyParams, maximumFrequencyPerUser: maximum } = spec.impression;
      const cap: Size = ['maximumFrequencyPerUser', maximum, 1, LIMITS.maximumFrequencyPerUser];
      return [...sizes, ...privacySizes(privacyParams!), cap];
    }
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser: maximum } = spec.duration;
      const seconds = Number(capMillis(maximum!)) / 1000;
      const cap: Size = ['maximumWatchDurationPerUser', seconds, 0.001, LIMITS.maximumWatchDurationPerUser];
      return [...sizes, ...privacySizes(privacyParams!), cap];
    }
    case 'POPULATION':
      return sizes;
  }
}

function privacySizes({ epsilon, delta }: PrivacyParams): Size[] {
  return [
    ['epsilon', epsilon, LIMITS.epsilon.least, LIMITS.epsilon.most],
    ['delta', delta, delta === 0 ? 0 : LIMITS.delta, 1],
  ];
}

export function outOfRange(field: string, description: string): Refuse {
  return new Refuse('SPEC_INVALID', `${field} of the MeasurementSpec ${description}.`);
}

/** Of a duration in seconds. Digits beyond nanoseconds are those of the binary fraction, not of the duration. */
export function capMillis(seconds: number): bigint {
  return BigInt(Math.floor(Number((seconds * 1000).toFixed(6))));
}
