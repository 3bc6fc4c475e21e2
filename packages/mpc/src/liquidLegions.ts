/** The Liquid Legions protocols: what workers and aggregator compute, without any server. */
export { LiquidLegionsError } from './liquidLegions/errors.ts';
export { FrequencyStages, relativeFrequencies } from './liquidLegions/frequency.ts';
export {
  type FrequencyParameters,
  type FrequencySpec,
  frequencyParameters,
} from './liquidLegions/frequencyParameters.ts';
export type { NoiseParameters, NoiseSpec } from './liquidLegions/noiseParameters.ts';
export { estimateReach, ReachOnlyStages, reachOnlyParameters } from './liquidLegions/reachOnly.ts';
export { type RingKeys, ringKeys } from './liquidLegions/ringKeys.ts';
export { checkPoints, type StageRun } from './liquidLegions/stageWork.ts';
export { TUPLE_BYTES } from './liquidLegions/tuples.ts';
