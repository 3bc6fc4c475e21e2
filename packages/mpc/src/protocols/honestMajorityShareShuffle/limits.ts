/** Computes the parameters that all duchies of a computation must agree on, from the spec and the config. */
import type {
  MpcNoiseMechanism,
  PlainSpec,
  PrivacyParams,
  ShareShuffleConfig,
} from '@measurement-exchange/contract';
import {
  noiseRegisterCount as countNoiseRegisters,
  MAX_NOISE_REGISTERS,
  MAX_SHUFFLED,
} from '@measurement-exchange/contract/shareShuffle';
import { type MpcNoise, mpcNoise } from '../../privacy/mpcNoise.ts';
import { checkModulus, isPrime } from '../../shares/ring.ts';

export type ShareShuffleSpec = {
  ringModulus: number;
  noiseMechanism: MpcNoiseMechanism;
  dataProviderCount: number;
  /** The length of each frequency vector. */
  registerCount: number;
} & (
  | { measurementType: 'REACH'; privacyParams?: PrivacyParams }
  | {
      measurementType: 'REACH_AND_FREQUENCY';
      maximumFrequency: number;
      reachPrivacyParams?: PrivacyParams;
      frequencyPrivacyParams?: PrivacyParams;
    }
);

export interface ShareShuffleParameters {
  measurementType: ShareShuffleSpec['measurementType'];
  modulus: number;
  registerCount: number;
  /** The maximum frequency, or 1 for a reach measurement. */
  maximumFrequency: number;
  /**
   * For a reach measurement, the noise on the number of people reached. For a reach-and-frequency measurement, the
   * noise on the number of people not reached, whose frequency is 0.
   */
  reachNoise: MpcNoise;
  /** The noise on the number of people at each frequency. For a reach measurement, its mechanism is `NONE`. */
  frequencyNoise: MpcNoise;
  /** The number of noise registers that each worker appends, regardless of the noise that it draws. */
  noiseRegisterCount: number;
}

export function parametersOf(
  spec: PlainSpec,
  { ringModulus, noiseMechanism }: ShareShuffleConfig,
  given: { dataProviderCount: number; registerCount: number },
): ShareShuffleParameters {
  const common = { ringModulus, noiseMechanism, ...given };
  const { measurementType } = spec;
  switch (measurementType) {
    case 'REACH':
      return shareShuffleParameters({ ...common, measurementType, ...spec.reach });
    case 'REACH_AND_FREQUENCY':
      return shareShuffleParameters({ ...common, measurementType, ...spec.reachAndFrequency });
    default:
      throw new RangeError(`${measurementType} is not computed`);
  }
}

/** Computes the parameters. If the protocol cannot fulfill the spec, throws a RangeError naming the invalid field. */
export function shareShuffleParameters(spec: ShareShuffleSpec): ShareShuffleParameters {
  const { measurementType, ringModulus: modulus, noiseMechanism, dataProviderCount, registerCount } = spec;
  if (!(Number.isInteger(dataProviderCount) && dataProviderCount >= 1)) {
    throw new RangeError('dataProviders must not be empty');
  }
  const frequencies = measurementType === 'REACH_AND_FREQUENCY';
  const maximumFrequency = frequencies ? spec.maximumFrequency : 1;
  checkRoom(modulus, dataProviderCount, frequencies ? maximumFrequency : undefined);
  const reachNoise = mpcNoise(noiseMechanism, frequencies ? spec.reachPrivacyParams : spec.privacyParams);
  const frequencyNoise = mpcNoise(
    frequencies ? noiseMechanism : 'NONE',
    frequencies ? spec.frequencyPrivacyParams : undefined,
  );
  const noiseRegisterCount = countNoiseRegisters(modulus, reachNoise.offset, frequencyNoise.offset);
  if (noiseRegisterCount > MAX_NOISE_REGISTERS) {
    throw new RangeError(
      `privacyParams ask for ${noiseRegisterCount} registers of noise, and ${MAX_NOISE_REGISTERS} are possible: raise epsilon`,
    );
  }
  if (!(Number.isInteger(registerCount) && registerCount >= 0)) {
    throw new RangeError('registerCount must be a whole number');
  }
  if (registerCount + 2 * noiseRegisterCount > MAX_SHUFFLED) {
    throw new RangeError(
      `the sample has ${registerCount} registers, and about ${MAX_SHUFFLED} are possible: narrow vidSamplingInterval.width`,
    );
  }
  return {
    measurementType,
    modulus,
    registerCount,
    maximumFrequency,
    reachNoise,
    frequencyNoise,
    noiseRegisterCount,
  };
}

/** Throws if a parameter is invalid, or if the ring is too small for the sum of one person's frequencies. */
function checkRoom(modulus: number, dataProviders: number, maximumFrequency: number | undefined): void {
  checkModulus(modulus);
  if (maximumFrequency === undefined) {
    if (!isPrime(modulus)) throw new RangeError('ringModulus must be a prime number for a reach');
    if (modulus > dataProviders) return;
    throw new RangeError(`ringModulus must be above the number of data providers, ${dataProviders}`);
  }
  if (!(Number.isInteger(maximumFrequency) && maximumFrequency > 1)) {
    throw new RangeError('maximumFrequency must be a whole number above 1');
  }
  // The largest value, modulus − 1, is reserved for registers that are not counted.
  const least = maximumFrequency * dataProviders + 1;
  if (modulus > least) return;
  throw new RangeError(
    `ringModulus must be above maximumFrequency × data providers + 1, which is ${least}, and is ${modulus}`,
  );
}

export function shuffledCount({ registerCount, noiseRegisterCount }: ShareShuffleParameters): number {
  return registerCount + 2 * noiseRegisterCount;
}
