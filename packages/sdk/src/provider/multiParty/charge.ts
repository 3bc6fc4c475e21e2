/** Computes the privacy cost of a result that duchies compute. Each reference and day is charged this cost. */
import type { PrivacyParams } from '@measurement-exchange/contract';
import type { MpcRelease } from '@measurement-exchange/mpc';
import { protocolMath } from '@measurement-exchange/mpc/protocols';
import type { PrivacyAmount } from '../ledger/amounts.ts';
import { privacyParamsOf } from '../verify/duchies.ts';
import { outOfRange } from '../verify/limits.ts';
import type { VerifiedRequisition } from '../verify.ts';

/** Returns the cost of a verified requisition. Throws a refusal if no noise can meet the privacy parameters. */
export function computationCharge({
  spec,
  shareShuffle,
  liquidLegions,
}: VerifiedRequisition): Partial<PrivacyAmount> {
  const protocol = liquidLegions?.protocol ?? 'honestMajorityShareShuffle';
  const config = liquidLegions?.config ?? shareShuffle!.config;
  const { noiseMechanism } = config;
  const params = privacyParamsOf(spec);
  if (noiseMechanism === 'NONE') return withoutNoise(params);
  const [reach, frequency] = params;
  const common = { noiseMechanism, reachPrivacyParams: reach! };
  const release: MpcRelease = frequency
    ? { ...common, measurementType: 'REACH_AND_FREQUENCY', frequencyPrivacyParams: frequency }
    : { ...common, measurementType: 'REACH' };
  try {
    return protocolMath(protocol).chargeOf(release, config as never, spec.nonceHashes.length);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfRange('privacyParams', `cannot be met by duchies: ${error.message}`);
  }
}

/**
 * Returns the cost of a result without noise. Such a result has no privacy guarantee. The requested parameters are still
 * charged, so that the budget runs out eventually.
 */
function withoutNoise(params: PrivacyParams[]): Partial<PrivacyAmount> {
  return {
    epsilon: params.reduce((sum, { epsilon }) => sum + epsilon, 0),
    delta: params.reduce((sum, { delta }) => sum + delta, 0),
  };
}
