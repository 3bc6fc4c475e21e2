/**
 * Computes the parameters that all duchies must agree on, from the config and the spec of a reach-and-frequency
 * measurement.
 */
import {
  type LiquidLegionsV2Config,
  legionsNoiseShapes,
  legionsNoiseTupleCount,
  type PlainSpec,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { mpcNoise } from '../../privacy/mpcNoise.ts';
import {
  checkNoise,
  fitting,
  type NoiseParameters,
  type NoiseSpec,
  noiseParameters,
  noiseSpecOf,
  type TupleNoise,
} from '../liquidLegions/noiseParameters.ts';

export interface FrequencySpec extends NoiseSpec {
  maximumFrequency: number;
  frequencyPrivacyParams?: PrivacyParams;
}

export interface FrequencyParameters extends NoiseParameters, TupleNoise {}

export function parametersOf(
  spec: PlainSpec,
  config: LiquidLegionsV2Config,
  { dataProviderCount }: { dataProviderCount: number },
): FrequencyParameters {
  if (spec.measurementType !== 'REACH_AND_FREQUENCY') {
    throw new RangeError(`${spec.measurementType} is not computed`);
  }
  const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
  if (maximumFrequency > config.maximumFrequency) {
    throw new RangeError(`maximumFrequency must be at most ${config.maximumFrequency}`);
  }
  return fitting(
    frequencyParameters({
      ...noiseSpecOf(config, dataProviderCount),
      privacyParams: reachPrivacyParams!,
      frequencyPrivacyParams: frequencyPrivacyParams!,
      maximumFrequency,
    }),
  );
}

/**
 * Computes the parameters. If the protocol cannot fulfill the spec, throws a RangeError that names the field at fault.
 */
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
