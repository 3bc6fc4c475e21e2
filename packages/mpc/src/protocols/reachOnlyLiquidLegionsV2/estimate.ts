/** Estimates the reach from the number of registers that have somebody. */

import { estimatePeople } from '../../privacy/liquidLegions.ts';
import type { NoiseParameters } from '../liquidLegions/noiseParameters.ts';

/**
 * `width` is that of the sampling interval of the spec, in which it is a 32-bit float. Where noise or a provider
 * fills more registers than a sketch has, the reach is the largest that the sketch can tell: no count makes a
 * computation fail. The bias that the noise of all duchies causes is corrected here, so that the signed figure is the
 * one that everybody shows.
 */
export function estimateReach(parameters: NoiseParameters, registers: number, width: number): number {
  const told = Math.min(registers, parameters.maxSize - 1);
  const people = estimatePeople(parameters, told, parameters.reachNoise.variance);
  return Math.trunc(people / Math.fround(width));
}
