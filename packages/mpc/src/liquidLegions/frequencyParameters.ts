/** What all duchies of one computation with frequencies must agree on, from the spec and the protocol's config. */
import {
  legionsNoiseShapes,
  legionsNoiseTupleCount,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { type MpcNoise, mpcNoise } from '../sketches.ts';
import { checkNoise, type NoiseParameters, type NoiseSpec, noiseParameters } from './noiseParameters.ts';

export interface FrequencySpec extends NoiseSpec {
  maximumFrequency: number;
  frequencyPrivacyParams?: PrivacyParams;
}

export interface FrequencyParameters extends NoiseParameters {
  maximumFrequency: number;
  /** Of the number of registers of each frequency. */
  frequencyNoise: MpcNoise;
  /** How many tuples each duchy adds for its noise, whatever the noise is. */
  noiseTupleCount: number;
}

/** Throws a RangeError that names the field where the protocol cannot do what is asked for. */
export function frequencyParameters(spec: FrequencySpec): FrequencyParameters {
  const { noiseMechanism, maximumFrequency, dataProviderCount, duchyCount } = spec;
  if (!(Number.isInteger(maximumFrequency) && maximumFrequency > 1)) {
    throw new RangeError('maximumFrequency must be a whole number above 1');
  }
  const { frequency } = legionsNoiseShapes(dataProviderCount, duchyCount);
  const frequencyNoise = mpcNoise(noiseMechanism, spec.frequencyPrivacyParams, frequency);
  const noiseTupleCount = legionsNoiseTupleCount(frequencyNoise.offset, maximumFrequency);
  checkNoise(noiseTupleCount, 'frequencyPrivacyParams');
  return {
    ...noiseParameters(spec, 'liquidLegionsV2'),
    maximumFrequency,
    frequencyNoise,
    noiseTupleCount,
  };
}
