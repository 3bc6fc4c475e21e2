/** Validates the field values of a MeasurementSpec after it has been decoded successfully. */
import { REQUIRED, type Violation } from '../errors/errors.ts';
import { toBase64 } from '../values/scalars.ts';
import type { Protocol } from '../values/states.ts';
import type { PlainSpec, PrivacyParams } from './measurementSpec.ts';
import { TYPE_URLS } from './typeUrls.ts';

/**
 * The tolerance for comparing `start + width` with 1. `start` and `width` are 32-bit floats, so 0.4 and 0.6 add up to
 * 1.00000003. A millionth is more than this rounding error, but less than any difference that a person would write.
 */
const FLOAT_SLACK = 1e-6;

/** Returns whether a sampling interval extends past 1 and therefore continues at 0. */
export function wrapsAround({ start, width }: { start: number; width: number }): boolean {
  return start + width > 1 + FLOAT_SLACK;
}

/** Returns the spec's violations, given the protocol that computes the measurement. */
export function measurementSpecViolations(spec: PlainSpec, protocol: Protocol = 'direct'): Violation[] {
  const violations: Violation[] = [];
  const check = (field: string, ok: boolean, description: string) => {
    if (!ok) violations.push({ field, description });
  };
  const checkPrivacy = (field: string, params: PrivacyParams | undefined) => {
    if (!params) return check(field, false, REQUIRED);
    const { epsilon, delta } = params;
    check(`${field}.epsilon`, epsilon > 0 && Number.isFinite(epsilon), 'must be a finite number above 0');
    check(`${field}.delta`, delta >= 0 && delta < 1, 'must be at least 0 and below 1');
  };

  const key = spec.measurementPublicKey;
  check('measurementPublicKey', key !== undefined, REQUIRED);
  check(
    'measurementPublicKey.typeUrl',
    key?.typeUrl === undefined || key.typeUrl === TYPE_URLS.EncryptionPublicKey,
    `must be ${TYPE_URLS.EncryptionPublicKey}`,
  );

  const interval = spec.vidSamplingInterval;
  if (interval) {
    const { start, width } = interval;
    check('vidSamplingInterval.start', start >= 0 && start <= 1, 'must be at least 0 and at most 1');
    check('vidSamplingInterval.width', width > 0 && width <= 1, 'must be above 0 and at most 1');
    // Only the share shuffle protocol supports a sampling interval that extends past 1 and continues at 0.
    const fits = protocol === 'honestMajorityShareShuffle' || !wrapsAround(interval);
    check(
      'vidSamplingInterval',
      fits,
      'start + width must be at most 1, unless honestMajorityShareShuffle computes it',
    );
  } else if (spec.measurementType === 'REACH' || spec.measurementType === 'REACH_AND_FREQUENCY') {
    check('vidSamplingInterval', false, REQUIRED);
  }

  // Report only the first duplicate, because a hostile spec can have a million.
  const seen = new Set<string>();
  const repeated = spec.nonceHashes.findIndex((hash) => seen.size === seen.add(toBase64(hash)).size);
  check(`nonceHashes[${repeated}]`, repeated === -1, 'repeats an earlier one');

  switch (spec.measurementType) {
    case 'REACH':
      checkPrivacy('reach.privacyParams', spec.reach.privacyParams);
      break;
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      checkPrivacy('reachAndFrequency.reachPrivacyParams', reachPrivacyParams);
      checkPrivacy('reachAndFrequency.frequencyPrivacyParams', frequencyPrivacyParams);
      // A frequency distribution needs at least two buckets.
      check('reachAndFrequency.maximumFrequency', maximumFrequency > 1, 'must be above 1');
      break;
    }
    case 'IMPRESSION': {
      const { privacyParams, maximumFrequencyPerUser } = spec.impression;
      checkPrivacy('impression.privacyParams', privacyParams);
      check('impression.maximumFrequencyPerUser', maximumFrequencyPerUser > 0, 'must be above 0');
      break;
    }
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser = 0 } = spec.duration;
      checkPrivacy('duration.privacyParams', privacyParams);
      check('duration.maximumWatchDurationPerUser', maximumWatchDurationPerUser > 0, 'must be above 0');
      break;
    }
    case 'POPULATION':
      break;
  }
  return violations;
}
