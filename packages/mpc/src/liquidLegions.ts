/** The Liquid Legions protocols: the computations of workers and aggregator, without any server. */
export { LiquidLegionsError } from './liquidLegions/errors.ts';
export type { NoiseParameters, NoiseSpec } from './liquidLegions/noiseParameters.ts';
export { type RingKeys, ringKeys } from './liquidLegions/ringKeys.ts';
export { checkPoints, type StageRun } from './liquidLegions/stageWork.ts';
export { TUPLE_BYTES } from './liquidLegions/tuples.ts';
export { FrequencyStages } from './protocols/liquidLegionsV2/duchy.ts';
export { relativeFrequencies } from './protocols/liquidLegionsV2/estimate.ts';
export {
  type FrequencyParameters,
  type FrequencySpec,
  frequencyParameters,
} from './protocols/liquidLegionsV2/limits.ts';
export { ReachOnlyStages } from './protocols/reachOnlyLiquidLegionsV2/duchy.ts';
export { estimateReach } from './protocols/reachOnlyLiquidLegionsV2/estimate.ts';
export { reachOnlyParameters } from './protocols/reachOnlyLiquidLegionsV2/limits.ts';
