/** The privacy cost of a verified requisition whose result duchies compute. */
import type { PrivacyAmount } from '../../charges/amounts.ts';
import { duchyCost } from '../../charges/computation.ts';
import { privacyParamsOf } from '../verify/duchies.ts';
import { outOfRange } from '../verify/limits.ts';
import type { VerifiedLiquidLegions } from '../verify/liquidLegions.ts';
import type { VerifiedShareShuffle } from '../verify/shareShuffle.ts';
import type { VerifiedRequisition } from '../verify.ts';

/** The parts of a verified requisition that its cost depends on. */
export interface Chargeable {
  spec: VerifiedRequisition['spec'];
  shareShuffle?: Pick<VerifiedShareShuffle, 'config'>;
  liquidLegions?: Pick<VerifiedLiquidLegions, 'protocol' | 'config'>;
}

/**
 * Returns the cost for each event group reference and day. Throws a refusal if no noise can meet the privacy parameters.
 */
export function computationCharge({ spec, shareShuffle, liquidLegions }: Chargeable): Partial<PrivacyAmount> {
  const protocol = liquidLegions?.protocol ?? 'honestMajorityShareShuffle';
  const config = liquidLegions?.config ?? shareShuffle!.config;
  try {
    return duchyCost(privacyParamsOf(spec), { protocol, config }, spec.nonceHashes.length);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfRange('privacyParams', `cannot be met by duchies: ${error.message}`);
  }
}
