/** Limits on what one requisition may ask for. */
import type { PlainSpec, PrivacyParams } from '@measurement-exchange/contract';
import { BUCKET_COUNT } from '../privacy/vidSampling.ts';
import { RefusalError } from './refusalError.ts';

/** The most that one requisition may ask of a provider; beyond it the requisition is refused. */
export const LIMITS = {
  /** Event groups times days; each is charged, in one transaction that nothing else can interrupt. */
  days: 10_000,
  maximumFrequency: 1_000,
  maximumFrequencyPerUser: 1_000_000,
  /** In seconds. */
  maximumWatchDurationPerUser: 366 * 86_400,
  epsilon: { least: 1e-6, most: 1e6 },
  /** The smallest delta above 0. */
  delta: 1e-30,
} as const;

/** Checks sizes that the exchange leaves open, so that the computation is feasible and its result meaningful. */
export function requireInRange(spec: PlainSpec): void {
  for (const [field, value, least, most] of sizesOf(spec)) {
    if (!(value >= least && value <= most)) throw outOfRange(field, `must be ${least} to ${most} here`);
  }
}

type Size = [field: string, value: number, least: number, most: number];

function sizesOf(spec: PlainSpec): Size[] {
  // A sample narrower than one hash bucket is empty.
  const width = spec.vidSamplingInterval?.width ?? 1;
  const sizes: Size[] = [['vidSamplingInterval.width', width, 1 / BUCKET_COUNT, 1]];
  // measurementSpecViolations has checked that the parameters are present.
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

export function outOfRange(field: string, description: string): RefusalError {
  const at = `measurementSpec.${field}` as const;
  return new RefusalError('VALUE_OUT_OF_RANGE', `${field} of the MeasurementSpec ${description}.`, { at });
}

/** A duration in whole milliseconds. Digits beyond nanoseconds are rounding errors of the binary fraction. */
export function capMillis(seconds: number): bigint {
  return BigInt(Math.floor(Number((seconds * 1000).toFixed(6))));
}
