/** A worker's noise, as registers that are appended to those of people. Their number is public, so it says nothing. */
import { drawMpcNoise, Keystream, NonZeroValues, wordAligned } from '@measurement-exchange/sdk/shareShuffle';
import type { ShareShuffleParameters } from './parameters.ts';

/** The same registers for the same seed: a stage that is repeated must not draw other noise. */
export function noiseRegisters(parameters: ShareShuffleParameters, seed: Uint8Array): Uint8Array {
  const { measurementType, modulus, maximumSum, reachNoise, frequencyNoise, noiseRegisterCount } = parameters;
  const random = new Keystream(seed);
  const registers = wordAligned(noiseRegisterCount);
  if (measurementType === 'REACH') {
    const reached = drawMpcNoise(reachNoise, random);
    new NonZeroValues(random, modulus, reached).fill(registers.subarray(0, reached));
    return registers;
  }
  // Those that count for nothing, until they are overwritten.
  registers.fill(modulus - 1);
  let at = 0;
  for (let frequency = 0; frequency <= maximumSum; frequency++) {
    const count = drawMpcNoise(frequency === 0 ? reachNoise : frequencyNoise, random);
    registers.fill(frequency, at, at + count);
    at += count;
  }
  return registers;
}
