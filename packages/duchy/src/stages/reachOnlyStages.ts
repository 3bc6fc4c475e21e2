/** The stages of the reach-only protocol. */
import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { estimateReach, ReachOnlyStages } from '@measurement-exchange/mpc/liquidLegions';
import { configOf } from '../computations/plan.ts';
import { POOL } from '../threads/pool.ts';
import { fromPrevious } from './legionsInput.ts';
import { legionsStages } from './legionsStage.ts';
import { sealedResult } from './result.ts';

const PROTOCOL = 'reachOnlyLiquidLegionsV2';

const { stage, setup, combine } = legionsStages(
  PROTOCOL,
  (parameters) => new ReachOnlyStages(parameters, POOL),
);

export { combine, setup };

/** A worker removes its key and blinds the registers, so that they cannot be recognized. */
export const execute = stage(async (given) =>
  given.stages.execute(await fromPrevious(given, 'EXECUTION_PHASE_INPUT'), given.keys, given.seed, given),
);

/** The aggregator counts the registers. */
export const count = stage(async (given) => {
  const { stages, plan, keys, computation } = given;
  const registers = await stages.count(await fromPrevious(given, 'EXECUTION_PHASE_INPUT'), keys, given);
  return sealedResult(given, {
    reach: estimateReach(plan.parameters, registers, plan.spec.vidSamplingInterval?.width ?? 1),
    noiseMechanism: configOf(PROTOCOL, computation.view).noiseMechanism,
    methodology: {
      reach: { case: PROTOCOL, value: create(specs.ReachOnlyLiquidLegionsV2MethodologySchema) },
    },
  });
});
