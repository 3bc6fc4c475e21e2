/** From the registers that have somebody to the reach. */
import type { NoiseParameters } from '../../liquidLegions/noiseParameters.ts';
import { estimatePeople } from '../../privacy/liquidLegions.ts';

/**
 * `width` of the interval of the spec, in which it is a 32-bit float. Where noise or a provider fills more registers than a
 * sketch has, the reach is the largest that the sketch can tell: no count makes a computation fail. What the noise of all
 * duchies adds on average is corrected here, so that the figure that is signed is the one that everybody shows.
 */
export function estimateReach(parameters: NoiseParameters, registers: number, width: number): number {
  const told = Math.min(registers, parameters.maxSize - 1);
  const people = estimatePeople(parameters, told, parameters.reachNoise.variance);
  return Math.trunc(people / Math.fround(width));
}
