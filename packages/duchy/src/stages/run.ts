/** The functions that the tables of the protocols name. */
import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
import { rowOf } from '../computations/progress.ts';
import type { LIQUID_LEGIONS } from '../computations/tables/liquidLegions.ts';
import type { REACH_ONLY_LIQUID_LEGIONS } from '../computations/tables/reachOnlyLiquidLegions.ts';
import type { SHARE_SHUFFLE } from '../computations/tables/shareShuffle.ts';
import type { StageNames } from '../computations/tables/table.ts';
import { aggregate } from './aggregate.ts';
import { confirm } from './confirm.ts';
import * as frequencyStages from './frequencyStages.ts';
import { publishKey } from './publishKey.ts';
import * as reachOnlyStages from './reachOnlyStages.ts';
import { setup } from './setup.ts';
import { shuffle } from './shuffle.ts';
import type { StageFunction, Work } from './work.ts';

const FUNCTIONS: {
  honestMajorityShareShuffle: Record<StageNames<typeof SHARE_SHUFFLE>, StageFunction>;
  reachOnlyLiquidLegionsV2: Record<StageNames<typeof REACH_ONLY_LIQUID_LEGIONS>, StageFunction>;
  liquidLegionsV2: Record<StageNames<typeof LIQUID_LEGIONS>, StageFunction>;
} = {
  honestMajorityShareShuffle: { publishKey, setup, shuffle, aggregate },
  reachOnlyLiquidLegionsV2: { publishKey, confirm, ...reachOnlyStages },
  liquidLegionsV2: { publishKey, confirm, ...frequencyStages },
};

/** Computes the stage that the computation is in. */
export function runStage(work: Work): Promise<Uint8Array | undefined> {
  const { protocol } = work.computation;
  const functions: Record<string, StageFunction> = FUNCTIONS[protocol satisfies MpcProtocol];
  return functions[rowOf(work.computation)!.run!]!(work);
}
