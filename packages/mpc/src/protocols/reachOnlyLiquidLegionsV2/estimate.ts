import { estimatePeople } from '../../privacy/liquidLegions.ts';
import type { NoiseParameters } from '../liquidLegions/noiseParameters.ts';

/**
 * Estimates the reach from the number of registers that are hit (that represent at least one reached person), and
 * corrects the bias that noise causes. If every register is hit, estimates as if one register were empty, instead of
 * throwing. `width` is the width of the sampling interval, a 32-bit float in the spec.
 */
export function estimateReach(parameters: NoiseParameters, registers: number, width: number): number {
  const told = Math.min(registers, parameters.maxSize - 1);
  const people = estimatePeople(parameters, told, parameters.reachNoise.variance);
  return Math.trunc(people / Math.fround(width));
}
