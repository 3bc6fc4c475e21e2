/** Checks that a requisition is within the provider's limits. */
import type { PlainSpec, PrivacyParams } from '@measurement-exchange/contract';
import { capMillis } from '@measurement-exchange/mpc/charges';
import { BUCKET_COUNT } from '@measurement-exchange/mpc/privacy/vidSampling';
import { RefusalError } from '../../refusals/refusalError.ts';

/** A requisition that exceeds one of these limits is refused. */
export const LIMITS = {
  /**
   * The maximum number of days, summed over all event groups. Each day is charged. All charges are written in one
   * transaction, which blocks all other work.
   */
  days: 10_000,
  maximumFrequency: 1_000,
  maximumFrequencyPerUser: 1_000_000,
  /** The maximum time per person, in seconds: 366 days. */
  maximumWatchDurationPerUser: 366 * 86_400,
  epsilon: { least: 1e-6, most: 1e6 },
  /** The smallest accepted delta above 0. A delta of 0 is also accepted. */
  delta: 1e-30,
} as const;

/** Refuses values that the exchange accepts, but that make the computation infeasible or its result meaningless. */
export function requireInRange(spec: PlainSpec): void {
  for (const [field, value, least, most] of sizesOf(spec)) {
    if (!(value >= least && value <= most)) throw outOfRange(field, `must be ${least} to ${most} here`);
  }
}

type Size = [field: string, value: number, least: number, most: number];

function sizesOf(spec: PlainSpec): Size[] {
  // Require a width of at least one hash bucket, because a narrower sample can be empty.
  const width = spec.vidSamplingInterval?.width ?? 1;
  const sizes: Size[] = [['vidSamplingInterval.width', width, 1 / BUCKET_COUNT, 1]];
  // measurementSpecViolations has checked that the parameters are present.
  if (spec.measurementType === 'REACH_AND_FREQUENCY') {
    const { maximumFrequency } = spec.reachAndFrequency;
    sizes.push(['maximumFrequency', maximumFrequency, 2, LIMITS.maximumFrequency]);
  } else if (spec.measurementType === 'IMPRESSION') {
    const { maximumFrequencyPerUser: maximum } = spec.impression;
    sizes.push(['maximumFrequencyPerUser', maximum, 1, LIMITS.maximumFrequencyPerUser]);
  } else if (spec.measurementType === 'DURATION') {
    const seconds = Number(capMillis(spec.duration.maximumWatchDurationPerUser!)) / 1000;
    sizes.push(['maximumWatchDurationPerUser', seconds, 0.001, LIMITS.maximumWatchDurationPerUser]);
  }
  return [...paramsByField(spec).flatMap(privacySizes), ...sizes];
}

export function paramsByField(spec: PlainSpec): [field: string, params: PrivacyParams][] {
  switch (spec.measurementType) {
    case 'REACH':
      return [['reach.privacyParams', spec.reach.privacyParams!]];
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
      return [
        ['reachAndFrequency.reachPrivacyParams', reachPrivacyParams!],
        ['reachAndFrequency.frequencyPrivacyParams', frequencyPrivacyParams!],
      ];
    }
    case 'IMPRESSION':
      return [['impression.privacyParams', spec.impression.privacyParams!]];
    case 'DURATION':
      return [['duration.privacyParams', spec.duration.privacyParams!]];
    case 'POPULATION':
      return [];
  }
}

function privacySizes([field, { epsilon, delta }]: [string, PrivacyParams]): Size[] {
  return [
    [`${field}.epsilon`, epsilon, LIMITS.epsilon.least, LIMITS.epsilon.most],
    [`${field}.delta`, delta, delta === 0 ? 0 : LIMITS.delta, 1],
  ];
}

/**
 * Refuses an epsilon below the provider's minimum, because such a requisition costs almost no budget but takes as much
 * work as any other.
 */
export function requireEpsilon(spec: PlainSpec, minimum: number): void {
  for (const [field, { epsilon }] of paramsByField(spec)) {
    if (epsilon >= minimum) continue;
    throw new RefusalError(
      'EPSILON_TOO_SMALL',
      `${field}.epsilon is ${epsilon}, and minimumEpsilon of this provider is ${minimum}.`,
      { at: `measurementSpec.${field}.epsilon` },
    );
  }
}

export function outOfRange(field: string, description: string): RefusalError {
  const at = `measurementSpec.${field}` as const;
  return new RefusalError('VALUE_OUT_OF_RANGE', `${field} of the MeasurementSpec ${description}.`, { at });
}
