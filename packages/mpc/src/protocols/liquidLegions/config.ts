/** The roles and registers of a ring, whichever of the two protocols it runs. */
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import type { Roles } from '../protocol.ts';

export { liquidLegionsViolations as violationsOf } from '@measurement-exchange/contract';

/** In the order of the ring. */
export function rolesOf({ workers, aggregator }: Pick<LiquidLegionsConfig, 'workers' | 'aggregator'>): Roles {
  return [...workers.map((worker): Roles[number] => [worker, 'WORKER']), [aggregator, 'AGGREGATOR']];
}

/** A register follows from a VID alone. */
export function populationOf(_config: LiquidLegionsConfig): undefined {}

/** Registers of a sketch cannot continue at 0. */
export const takesWrappedSamples = false;

export function registerCountOf({ maxSize }: LiquidLegionsConfig): number {
  return maxSize;
}

export function maximumFrequencyOf({ maximumFrequency = 0 }: LiquidLegionsConfig): number {
  return maximumFrequency;
}
