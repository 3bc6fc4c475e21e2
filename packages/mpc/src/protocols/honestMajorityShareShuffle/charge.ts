/** The privacy cost of a release by the workers of share shuffle, for the people of one data provider. */
import { NOISE_WORKERS, type PrivacyParams, SHARE_SHUFFLE_NOISE } from '@measurement-exchange/contract';
import { asCharge, costOfCount, type MpcRelease } from '../../privacy/countCost.ts';
import type { Charge } from '../../privacy/noise.ts';

/**
 * The charge to one unit of privacy for the workers' counts (docs/privacy.md). A reach is one count. A frequency
 * histogram has a count of the people at 0, with the noise of the reach, and one for each frequency, with the noise
 * of the frequency; a unit moves one person from one count to another, and pays for the two that cost the most.
 * Throws a RangeError where the parameters cannot be met.
 */
export function mpcCharge(release: MpcRelease): Charge {
  const { noiseMechanism } = release;
  const countCost = (params: PrivacyParams) =>
    costOfCount(noiseMechanism, params, SHARE_SHUFFLE_NOISE, NOISE_WORKERS);
  const reach = countCost(release.reachPrivacyParams);
  let { spent, delta } = reach;
  if (release.measurementType === 'REACH_AND_FREQUENCY') {
    const frequency = countCost(release.frequencyPrivacyParams);
    spent = frequency.spent + Math.max(reach.spent, frequency.spent);
    delta = frequency.delta + Math.max(reach.delta, frequency.delta);
  }
  return asCharge(noiseMechanism, { spent, delta });
}

export { mpcCharge as chargeOf };
