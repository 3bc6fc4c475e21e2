/** The Liquid Legions protocols: what workers and aggregator compute, without any server. */
export { LiquidLegionsError } from './errors.ts';
export type { NoiseParameters, NoiseSpec } from './noiseParameters.ts';
export { estimateReach, ReachOnlyStages, reachOnlyParameters } from './reachOnly.ts';
export { Workspace } from './workspace.ts';
