/** A worker's noise, as extra registers. Their number is public and constant, so it reveals nothing. */
import { drawMpcNoise, Keystream, NonZeroValues, wordAligned } from '../../shares.ts';
import type { ShareShuffleParameters } from './limits.ts';

/** Returns the same registers for the same seed, because repeating a stage must not draw new noise. */
export function noiseRegisters(parameters: ShareShuffleParameters, seed: Uint8Array): Uint8Array {
  const { measurementType, modulus, reachNoise, frequencyNoise, noiseRegisterCount } = parameters;
  const random = new Keystream(seed);
  const registers = wordAligned(noiseRegisterCount);
  if (measurementType === 'REACH') {
    const reached = drawMpcNoise(reachNoise, random);
    new NonZeroValues(random, modulus, reached).fill(registers.subarray(0, reached));
    return registers;
  }
  // The ring's last value marks registers that are not counted. The noise below overwrites some of these marks.
  const mark = modulus - 1;
  registers.fill(mark);
  let at = 0;
  // Values that no honest provider can report need noise too, because a dishonest one could move any person to them.
  for (let value = 0; value < mark; value++) {
    const count = drawMpcNoise(value === 0 ? reachNoise : frequencyNoise, random);
    registers.fill(value, at, at + count);
    at += count;
  }
  return registers;
}
