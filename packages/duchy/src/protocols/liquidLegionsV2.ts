/** Liquid Legions v2: a protocol that measures reach and frequencies with encrypted sketches. */
import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import type { MpcStage } from '@measurement-exchange/mpc/protocols';
import { FrequencyStages } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/duchy';
import {
  estimateReach,
  relativeFrequencies,
} from '@measurement-exchange/mpc/protocols/liquidLegionsV2/estimate';
import { FREQUENCY_REGISTER_BYTES } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { configOf } from '../computations/plan.ts';
import { keepInterim, readSecrets } from '../database/index.ts';
import { sealedResult } from '../stages/result.ts';
import { POOL } from './liquidLegions/pool.ts';
import { legionsStages } from './liquidLegions/stage.ts';
import { sketchRules } from './liquidLegions/upload.ts';
import type { DuchyProtocol } from './protocol.ts';

const PROTOCOL = 'liquidLegionsV2';
const ONE = 'EXECUTION_PHASE_ONE_INPUT';
const TWO = 'EXECUTION_PHASE_TWO_INPUT';
const THREE = 'EXECUTION_PHASE_THREE_INPUT';

const { round, common, messageSize } = legionsStages(
  PROTOCOL,
  (parameters) => new FrequencyStages(parameters, POOL),
);

export const LIQUID_LEGIONS_V2: DuchyProtocol<MpcStage<typeof PROTOCOL>> = {
  upload: sketchRules(PROTOCOL, FREQUENCY_REGISTER_BYTES),
  messageSize,
  stages: {
    ...common,

    /**
     * A worker removes its layer of encryption from the registers' indexes. It also multiplies the indexes by a secret
     * number, so that the aggregator cannot recognize them.
     */
    blind: round(ONE, (given, input) => given.stages.blind(input, given.keys, given.seed, given)),

    /**
     * The aggregator combines registers with the same index into a tuple of three flags and a count, and adds noise
     * tuples. Each flag is an encrypted number. The number is zero if the keys that identify the people in the
     * registers meet a certain condition, for example if these keys are equal.
     */
    group: round(ONE, (given, input) => given.stages.group(input, given.keys, given.seed, given)),

    /**
     * A worker removes its layer of encryption from the tuples' flags, and adds noise tuples. It also multiplies each
     * flag by a random number, so that the aggregator learns only whether the flag is zero.
     */
    decryptFlags: round(TWO, (given, input) =>
      given.stages.decryptFlags(input, given.keys, given.seed, given),
    ),

    /**
     * The aggregator estimates how many registers represent people, and stores the estimate for the last stage. The
     * output consists of encrypted comparisons. For each tuple whose flags show that it has a frequency, these are the
     * differences between the tuple's count and every frequency below the maximum.
     */
    countRegisters: round(TWO, async (given, tuples) => {
      const { stages, keys, seed, duchy, computation } = given;
      const { registers, comparisons } = await stages.countRegisters(tuples, keys, seed, given);
      await keepInterim(duchy.db, computation.id, Buffer.from(String(registers)));
      return comparisons;
    }),

    /**
     * A worker removes its layer of encryption from the comparisons. It also multiplies each comparison by a random
     * number, so that the aggregator learns only whether the comparison is zero.
     */
    decryptComparisons: round(THREE, (given, input) =>
      given.stages.decryptComparisons(input, given.keys, given.seed, given),
    ),

    /** The aggregator counts the registers with each frequency, and returns the encrypted result. */
    countFrequencies: round(THREE, async (given, comparisons) => {
      const { stages, plan, keys, duchy, computation } = given;
      const { interim } = await readSecrets(duchy.db, computation.id);
      const frequencies = await stages.countFrequencies(comparisons, keys, given);
      const width = plan.spec.vidSamplingInterval?.width ?? 1;
      const methodology = { case: PROTOCOL, value: create(specs.LiquidLegionsV2MethodologySchema) } as const;
      return sealedResult(given, {
        reach: estimateReach(plan.parameters, Number(Buffer.from(interim!).toString()), width),
        relativeFrequencyDistribution: relativeFrequencies(frequencies),
        noiseMechanism: configOf(PROTOCOL, computation.view).noiseMechanism,
        methodology: { reach: methodology, frequency: methodology },
      });
    }),
  },
};
