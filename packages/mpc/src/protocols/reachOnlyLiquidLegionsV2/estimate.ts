import { estimatePeople } from '../../privacy/liquidLegions.ts';
import type { NoiseParameters } from '../liquidLegions/noiseParameters.ts';

/**
 * Estimates the reach from the number of registers that are hit, and corrects the bias due to noise. A count above the size
 * of the sketch gives the largest reach that the sketch can represent, so that no count makes a computation fail. `width`
 * is that of the sampling interval, which is a 32-bit float in the spec.
 */
export function estimateReach(parameters: NoiseParameters, registers: number, width: number): number {
  const told = Math.min(registers, parameters.maxSize - 1);
  const people = estimatePeople(parameters, told, parameters.reachNoise.variance);
  return Math.trunc(people / Math.fround(width));
}
