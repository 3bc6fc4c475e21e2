/** The Liquid Legions protocols: what workers and aggregator compute, without any server. */
export { LiquidLegionsError } from './errors.ts';
export { FrequencyStages, type RingKeys, relativeFrequencies } from './frequency.ts';
export { type FrequencyParameters, type FrequencySpec, frequencyParameters } from './frequencyParameters.ts';
export type { NoiseParameters, NoiseSpec } from './noiseParameters.ts';
export { estimateReach, ReachOnlyStages, reachOnlyParameters } from './reachOnly.ts';
export { Workspace } from './workspace.ts';
