/** Computes how much privacy a share shuffle release costs the people of one data provider. */
import { NOISE_WORKERS, type PrivacyParams, SHARE_SHUFFLE_NOISE } from '@measurement-exchange/contract';
import { asCharge, costOfCount, type MpcRelease } from '../../privacy/countCost.ts';
import type { Charge } from '../../privacy/noise.ts';

/**
 * Returns the privacy cost of a release for one privacy unit (see docs/privacy.md). A reach is one count. A frequency
 * histogram has one count of the people not reached, with the reach noise, and one count per frequency, with the
 * frequency noise. One privacy unit can move a person from one count to another, so the charge is the cost of the two
 * most expensive counts. Throws a RangeError if no noise can meet the parameters.
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
