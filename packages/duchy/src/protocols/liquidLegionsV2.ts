/** Liquid Legions v2: reach and frequencies. */
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
import { fromPrevious } from './liquidLegions/input.ts';
import { POOL } from './liquidLegions/pool.ts';
import { legionsStages } from './liquidLegions/stage.ts';
import { sketchRules } from './liquidLegions/upload.ts';
import type { DuchyProtocol } from './protocol.ts';

const PROTOCOL = 'liquidLegionsV2';
const [ONE, TWO, THREE] = ['ONE', 'TWO', 'THREE'].map((round) => `EXECUTION_PHASE_${round}_INPUT`) as [
  string,
  string,
  string,
];

const { stage, common, messageSize } = legionsStages(
  PROTOCOL,
  (parameters) => new FrequencyStages(parameters, POOL),
);

export const LIQUID_LEGIONS_V2: DuchyProtocol<MpcStage<typeof PROTOCOL>> = {
  upload: sketchRules(PROTOCOL, FREQUENCY_REGISTER_BYTES),
  messageSize,
  stages: {
    ...common,

    /** A worker removes its key from the indexes and blinds them, so that registers cannot be recognized. */
    blind: stage(async (given) =>
      given.stages.blind(await fromPrevious(given, ONE), given.keys, given.seed, given),
    ),

    /** The aggregator joins registers of the same index into one tuple. */
    group: stage(async (given) =>
      given.stages.group(await fromPrevious(given, ONE), given.keys, given.seed, given),
    ),

    /** A worker removes its key from the flags of the tuples, multiplies each by a random number, and adds noise. */
    decryptFlags: stage(async (given) =>
      given.stages.decryptFlags(await fromPrevious(given, TWO), given.keys, given.seed, given),
    ),

    /** The aggregator counts the registers, keeps the count for the last stage, and prepares the comparisons of frequencies. */
    countRegisters: stage(async (given) => {
      const { stages, keys, seed, duchy, computation } = given;
      const tuples = await fromPrevious(given, TWO);
      const { registers, comparisons } = await stages.countRegisters(tuples, keys, seed, given);
      await keepInterim(duchy.db, computation.id, Buffer.from(String(registers)));
      return comparisons;
    }),

    /** A worker removes its key from the comparisons and multiplies each by a random number. */
    decryptComparisons: stage(async (given) =>
      given.stages.decryptComparisons(await fromPrevious(given, THREE), given.keys, given.seed, given),
    ),

    /** The aggregator counts the registers of each frequency. */
    countFrequencies: stage(async (given) => {
      const { stages, plan, keys, duchy, computation } = given;
      const { interim } = await readSecrets(duchy.db, computation.id);
      const frequencies = await stages.countFrequencies(await fromPrevious(given, THREE), keys, given);
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
