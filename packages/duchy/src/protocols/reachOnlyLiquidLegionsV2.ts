/** Reach-only Liquid Legions v2: a protocol that measures reach with encrypted sketches. */
import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import type { MpcStage } from '@measurement-exchange/mpc/protocols';
import { ReachOnlyStages } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/duchy';
import { estimateReach } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/estimate';
import { REACH_REGISTER_BYTES } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import { configOf } from '../computations/plan.ts';
import { sealedResult } from '../stages/result.ts';
import { POOL } from './liquidLegions/pool.ts';
import { legionsStages } from './liquidLegions/stage.ts';
import { sketchRules } from './liquidLegions/upload.ts';
import type { DuchyProtocol } from './protocol.ts';

const PROTOCOL = 'reachOnlyLiquidLegionsV2';
const REGISTERS = 'EXECUTION_PHASE_INPUT';

const { round, common, messageSize } = legionsStages(
  PROTOCOL,
  (parameters) => new ReachOnlyStages(parameters, POOL),
);

export const REACH_ONLY_LIQUID_LEGIONS_V2: DuchyProtocol<MpcStage<typeof PROTOCOL>> = {
  upload: sketchRules(PROTOCOL, REACH_REGISTER_BYTES),
  messageSize,
  stages: {
    ...common,

    /**
     * A worker removes its layer of encryption from the registers, and blinds them so that the aggregator cannot
     * recognize them.
     */
    execute: round(REGISTERS, (given, input) => given.stages.execute(input, given.keys, given.seed, given)),

    /** The aggregator counts the registers, and returns the encrypted result. */
    count: round(REGISTERS, async (given, input) => {
      const { stages, plan, keys, computation } = given;
      const registers = await stages.count(input, keys, given);
      return sealedResult(given, {
        reach: estimateReach(plan.parameters, registers, plan.spec.vidSamplingInterval?.width ?? 1),
        noiseMechanism: configOf(PROTOCOL, computation.view).noiseMechanism,
        methodology: {
          reach: { case: PROTOCOL, value: create(specs.ReachOnlyLiquidLegionsV2MethodologySchema) },
        },
      });
    }),
  },
};
