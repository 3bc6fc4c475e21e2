/** The Liquid Legions protocols: what workers and aggregator compute, without any server. */
export { LiquidLegionsError } from './errors.ts';
export { FrequencyStages, relativeFrequencies } from './frequency.ts';
export { type FrequencyParameters, type FrequencySpec, frequencyParameters } from './frequencyParameters.ts';
export type { NoiseParameters, NoiseSpec } from './noiseParameters.ts';
export { POOL } from './pool.ts';
export { estimateReach, ReachOnlyStages, reachOnlyParameters } from './reachOnly.ts';
export { type RingKeys, ringKeys } from './ringKeys.ts';
export { checkPoints, type StageRun } from './stageWork.ts';
export { TUPLE_BYTES } from './tuples.ts';
