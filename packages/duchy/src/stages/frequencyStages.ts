/** The stages of the protocol with frequencies. */
import { create } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { estimateReach, FrequencyStages, relativeFrequencies } from '@measurement-exchange/mpc/liquidLegions';
import { configOf } from '../computations/plan.ts';
import { keepInterim, readSecrets } from '../database/index.ts';
import { POOL } from '../threads/pool.ts';
import { fromPrevious } from './legionsInput.ts';
import { legionsStages } from './legionsStage.ts';
import { sealedResult } from './result.ts';

const PROTOCOL = 'liquidLegionsV2';
const [ONE, TWO, THREE] = ['ONE', 'TWO', 'THREE'].map((round) => `EXECUTION_PHASE_${round}_INPUT`) as [
  string,
  string,
  string,
];

const { stage, setup, combine } = legionsStages(
  PROTOCOL,
  (parameters) => new FrequencyStages(parameters, POOL),
);

export { combine, setup };

/** A worker removes its key from the indexes and blinds them, so that registers cannot be recognized. */
export const blind = stage(async (given) =>
  given.stages.blind(await fromPrevious(given, ONE), given.keys, given.seed, given),
);

/** The aggregator joins registers of the same index into one tuple. */
export const group = stage(async (given) =>
  given.stages.group(await fromPrevious(given, ONE), given.keys, given.seed, given),
);

/** A worker removes its key from the flags of the tuples, multiplies each by a random number, and adds noise. */
export const decryptFlags = stage(async (given) =>
  given.stages.decryptFlags(await fromPrevious(given, TWO), given.keys, given.seed, given),
);

/** The aggregator counts the registers, keeps the count for the last stage, and prepares the comparisons of frequencies. */
export const countRegisters = stage(async (given) => {
  const { stages, keys, seed, duchy, computation } = given;
  const tuples = await fromPrevious(given, TWO);
  const { registers, comparisons } = await stages.countRegisters(tuples, keys, seed, given);
  await keepInterim(duchy.db, computation.id, Buffer.from(String(registers)));
  return comparisons;
});

/** A worker removes its key from the comparisons and multiplies each by a random number. */
export const decryptComparisons = stage(async (given) =>
  given.stages.decryptComparisons(await fromPrevious(given, THREE), given.keys, given.seed, given),
);

/** The aggregator counts the registers of each frequency. */
export const countFrequencies = stage(async (given) => {
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
});
