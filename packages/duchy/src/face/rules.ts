import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
import { legionsRules } from './liquidLegions.ts';
import { SHARE_RULES } from './shareShuffle.ts';
import type { UploadRules } from './uploadRules.ts';

export const RULES: Record<MpcProtocol, UploadRules> = {
  honestMajorityShareShuffle: SHARE_RULES,
  reachOnlyLiquidLegionsV2: legionsRules('reachOnlyLiquidLegionsV2'),
  liquidLegionsV2: legionsRules('liquidLegionsV2'),
};
