/** The functions that estimate the errors of figures, one for each protocol. A new protocol gets a line here. */
import type { MpcConfig, MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { DuchyErrors } from './duchyErrors.ts';
import { shareShuffleErrors } from './protocols/honestMajorityShareShuffle.ts';
import { liquidLegionsErrors } from './protocols/liquidLegions.ts';

export const DUCHY_ERRORS: { [P in MpcProtocol]: DuchyErrors<MpcConfig<P>> } = {
  honestMajorityShareShuffle: shareShuffleErrors,
  reachOnlyLiquidLegionsV2: liquidLegionsErrors,
  liquidLegionsV2: liquidLegionsErrors,
};
