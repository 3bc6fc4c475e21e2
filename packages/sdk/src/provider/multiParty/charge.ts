/** Computes the privacy cost of a verified requisition for a computation by duchies. */
import { measurementCost, type Units } from '@measurement-exchange/mpc/charges';
import { outOfRange } from '../verify/limits.ts';
import type { VerifiedLiquidLegions } from '../verify/liquidLegions.ts';
import type { VerifiedShareShuffle } from '../verify/shareShuffle.ts';
import type { VerifiedRequisition } from '../verify.ts';

export interface Chargeable {
  spec: VerifiedRequisition['spec'];
  shareShuffle?: Pick<VerifiedShareShuffle, 'config'>;
  liquidLegions?: Pick<VerifiedLiquidLegions, 'protocol' | 'config'>;
}

/**
 * Returns the cost to charge to each of the requisition's event group references and days. Throws a refusal if no noise
 * can meet the privacy parameters.
 */
export function computationCharge({ spec, shareShuffle, liquidLegions }: Chargeable): Units {
  const protocol = liquidLegions?.protocol ?? 'honestMajorityShareShuffle';
  const config = liquidLegions?.config ?? shareShuffle!.config;
  try {
    return measurementCost(spec, { protocol, config }, spec.nonceHashes.length);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw outOfRange('privacyParams', `cannot be met by duchies: ${error.message}`);
  }
}
