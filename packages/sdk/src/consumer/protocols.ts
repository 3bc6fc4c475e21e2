/**
 * Maps each duchy protocol to the function that estimates the errors of its figures. Add a line for each new protocol.
 */
import type { MpcConfig, MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { DuchyErrors } from './duchyErrors.ts';
import { shareShuffleErrors } from './protocols/honestMajorityShareShuffle.ts';
import { liquidLegionsErrors } from './protocols/liquidLegions.ts';

export const DUCHY_ERRORS: { [P in MpcProtocol]: DuchyErrors<MpcConfig<P>> } = {
  honestMajorityShareShuffle: shareShuffleErrors,
  reachOnlyLiquidLegionsV2: liquidLegionsErrors,
  liquidLegionsV2: liquidLegionsErrors,
};
