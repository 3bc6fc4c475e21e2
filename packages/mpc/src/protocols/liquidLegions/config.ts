/** The roles and registers of a ring of duchies, for both ring protocols. */
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import type { Roles } from '../protocol.ts';

export { liquidLegionsViolations as violationsOf } from '@measurement-exchange/contract';

/** Returns the duchies in ring order. */
export function rolesOf({ workers, aggregator }: Pick<LiquidLegionsConfig, 'workers' | 'aggregator'>): Roles {
  return [...workers.map((worker): Roles[number] => [worker, 'WORKER']), [aggregator, 'AGGREGATOR']];
}

/** No common population is needed, because a register depends only on the VID. */
export function populationOf(_config: LiquidLegionsConfig): undefined {}

/** A sample cannot wrap around, because a sketch's registers have no circular order. */
export const takesWrappedSamples = false;

export function registerCountOf({ maxSize }: LiquidLegionsConfig): number {
  return maxSize;
}

export function maximumFrequencyOf({ maximumFrequency = 0 }: LiquidLegionsConfig): number {
  return maximumFrequency;
}
