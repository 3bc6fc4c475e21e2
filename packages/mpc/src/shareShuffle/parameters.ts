/** What the two workers and the aggregator of one computation must agree on, from the spec and the protocol's config. */
import type { MpcNoiseMechanism, PrivacyParams } from '@measurement-exchange/contract';
import {
  noiseRegisterCount as countNoiseRegisters,
  MAX_NOISE_REGISTERS,
  MAX_SHUFFLED,
} from '@measurement-exchange/contract/shareShuffle';
import { isPrime, MAX_MODULUS, type MpcNoise, mpcNoise } from '../shares.ts';

export type ShareShuffleSpec = {
  ringModulus: number;
  noiseMechanism: MpcNoiseMechanism;
  dataProviderCount: number;
  /** Length of each frequency vector. */
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
  /** 1 for a reach. */
  maximumFrequency: number;
  /** Of the number of people who were not reached, or who were reached at all for a reach. */
  reachNoise: MpcNoise;
  /** Of the number of people of each frequency; none for a reach. */
  frequencyNoise: MpcNoise;
  /** How many registers each worker appends for its noise, whatever the noise is. */
  noiseRegisterCount: number;
}

/** Throws a RangeError that names the field where the protocol cannot do what is asked for. */
export function shareShuffleParameters(spec: ShareShuffleSpec): ShareShuffleParameters {
  const { measurementType, ringModulus: modulus, noiseMechanism, dataProviderCount, registerCount } = spec;
  if (!(Number.isInteger(modulus) && modulus >= 2 && modulus <= MAX_MODULUS)) {
    throw new RangeError(`ringModulus must be a whole number from 2 to ${MAX_MODULUS}`);
  }
  if (!(Number.isInteger(dataProviderCount) && dataProviderCount >= 1)) {
    throw new RangeError('dataProviders must not be empty');
  }
  const frequencies = measurementType === 'REACH_AND_FREQUENCY';
  const maximumFrequency = frequencies ? spec.maximumFrequency : 1;
  const maximumSum = maximumFrequency * dataProviderCount;
  if (frequencies) {
    if (!(Number.isInteger(maximumFrequency) && maximumFrequency > 1)) {
      throw new RangeError('maximumFrequency must be a whole number above 1');
    }
    // The largest value of the ring marks registers that count for nothing.
    if (modulus <= maximumSum + 1) {
      throw new RangeError(
        `ringModulus must be above maximumFrequency × data providers + 1, which is ${maximumSum + 1}, and is ${modulus}`,
      );
    }
  } else {
    if (!isPrime(modulus)) throw new RangeError('ringModulus must be a prime number for a reach');
    if (modulus <= maximumSum) {
      throw new RangeError(`ringModulus must be above the number of data providers, ${dataProviderCount}`);
    }
  }
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

/** How many registers a worker sends to the aggregator. */
export function shuffledCount({ registerCount, noiseRegisterCount }: ShareShuffleParameters): number {
  return registerCount + 2 * noiseRegisterCount;
}
