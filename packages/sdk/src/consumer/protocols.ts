/** How far figures of each protocol may be from the truth. A new protocol has a line here. */
import type { MpcConfig, MpcProtocol } from '@measurement-exchange/mpc/protocols';
import type { DuchyErrors } from './duchyErrors.ts';
import { shareShuffleErrors } from './protocols/honestMajorityShareShuffle.ts';
import { liquidLegionsErrors } from './protocols/liquidLegions.ts';

const ERRORS: { [P in MpcProtocol]: DuchyErrors<MpcConfig<P>> } = {
  honestMajorityShareShuffle: shareShuffleErrors,
  reachOnlyLiquidLegionsV2: liquidLegionsErrors,
  liquidLegionsV2: liquidLegionsErrors,
};

export function duchyErrors<P extends MpcProtocol>(protocol: P): DuchyErrors<MpcConfig<P>> {
  return ERRORS[protocol];
}
