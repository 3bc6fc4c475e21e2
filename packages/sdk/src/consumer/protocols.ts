/** The functions that estimate the errors of figures, one per protocol. Add a line here for each new protocol. */
import type { MpcConfig, MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { DuchyErrors } from './duchyErrors.ts';
import { shareShuffleErrors } from './protocols/honestMajorityShareShuffle.ts';
import { liquidLegionsErrors } from './protocols/liquidLegions.ts';

export const DUCHY_ERRORS: { [P in MpcProtocol]: DuchyErrors<MpcConfig<P>> } = {
  honestMajorityShareShuffle: shareShuffleErrors,
  reachOnlyLiquidLegionsV2: liquidLegionsErrors,
  liquidLegionsV2: liquidLegionsErrors,
};
