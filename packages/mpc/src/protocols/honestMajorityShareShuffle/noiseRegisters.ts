/**
 * Draws a worker's noise, in the form of extra registers. The number of extra registers is public and constant, so it
 * reveals nothing.
 */
import { drawMpcNoise, Keystream, NonZeroValues, wordAligned } from '../../shares.ts';
import type { ShareShuffleParameters } from './limits.ts';

/**
 * Draws the noise registers. The same seed returns the same registers, because repeating a stage must not draw new
 * noise.
 */
export function noiseRegisters(parameters: ShareShuffleParameters, seed: Uint8Array): Uint8Array {
  const { measurementType, modulus, reachNoise, frequencyNoise, noiseRegisterCount } = parameters;
  const random = new Keystream(seed);
  const registers = wordAligned(noiseRegisterCount);
  if (measurementType === 'REACH') {
    const reached = drawMpcNoise(reachNoise, random);
    new NonZeroValues(random, modulus, reached).fill(registers.subarray(0, reached));
    return registers;
  }
  // The largest value marks registers that are not counted. The noise below overwrites some of these marks.
  const mark = modulus - 1;
  registers.fill(mark);
  let at = 0;
  // Add noise to every value, even to values that no honest provider can report. A dishonest provider could move a
  // person to such a value.
  for (let value = 0; value < mark; value++) {
    const count = drawMpcNoise(value === 0 ? reachNoise : frequencyNoise, random);
    registers.fill(value, at, at + count);
    at += count;
  }
  return registers;
}
