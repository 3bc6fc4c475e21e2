/** The roles and registers of a ring of duchies, for both Liquid Legions protocols. */
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import type { Roles } from '../protocol.ts';

export { liquidLegionsViolations as violationsOf } from '@measurement-exchange/contract';

export function rolesOf({ workers, aggregator }: Pick<LiquidLegionsConfig, 'workers' | 'aggregator'>): Roles {
  return [...workers.map((worker): Roles[number] => [worker, 'WORKER']), [aggregator, 'AGGREGATOR']];
}

/** Returns no common population. Providers do not need one, because a register depends only on the VID. */
export function populationOf(_config: LiquidLegionsConfig): undefined {}

/** A sampling interval must not extend past 1. Only share shuffle accepts intervals that extend past 1. */
export const takesWrappedSamples = false;

export function registerCountOf({ maxSize }: LiquidLegionsConfig): number {
  return maxSize;
}

export function maximumFrequencyOf({ maximumFrequency = 0 }: LiquidLegionsConfig): number {
  return maximumFrequency;
}
