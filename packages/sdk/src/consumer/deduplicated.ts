/** The figures of a result that duchies computed: everybody is counted once, whichever data providers reached them. */
import type { PlainSpec, PrivacyParams, ShareShuffleConfig, specs } from '@measurement-exchange/contract';
import {
  estimate,
  mpcNoise,
  type ShareShuffleFrequencyParams,
  type ShareShuffleReachParams,
  shareShuffleCountVariance,
  shareShuffleReachVariance,
  shareShuffleShareVariance,
  shareShuffleUniverse,
} from '../privacy/index.ts';
import { type Figures, FiguresFault, how, mechanismOf, required, sharesOf } from './figures.ts';

/** Figures over all data providers, and the duchies that computed them. */
export interface DeduplicatedFigures extends Figures {
  /** The duchy that signed them. */
  aggregator: string;
  /** The duchies that added the noise. */
  workers: [string, string];
}

/**
 * Reads them. The values, the noise mechanism and the size of the sample are those that the aggregator signed, the
 * privacy parameters and the sampling interval those that this consumer signed. `protocolConfig` is the word of the
 * exchange: it has to agree, and adds nothing.
 */
export function deduplicatedFigures(
  spec: PlainSpec,
  result: specs.Measurement_Result,
  config: ShareShuffleConfig,
): DeduplicatedFigures {
  const width = spec.vidSamplingInterval?.width ?? 1;
  switch (spec.measurementType) {
    case 'REACH':
      return reachFigures(result, spec.reach.privacyParams, width, config).figures;
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      const { figures, sample } = reachFigures(result, reachPrivacyParams, width, config);
      const frequency = required(result.frequency, 'frequency');
      if (vectorSizeOf(frequency, config) !== sample.frequencyVectorSize) {
        throw new FiguresFault('RESULT_MALFORMED', 'its reach and its frequency are of different samples');
      }
      const frequencyNoiseVariance = noiseOf(frequency, frequencyPrivacyParams);
      const { noiseMechanism, methodology } = how(frequency);
      return {
        ...figures,
        frequency: sharesOf(frequency, maximumFrequency).map((share, i) =>
          atFrequency(share, {
            ...sample,
            count: share * sample.reach,
            frequency: i + 1,
            maximumFrequency,
            frequencyNoiseVariance,
          }),
        ),
        ...(noiseMechanism && { frequencyNoiseMechanism: noiseMechanism }),
        ...(methodology && { frequencyMethodology: methodology }),
      };
    }
    default:
      throw new FiguresFault('PROTOCOL_MISMATCH', `duchies do not compute ${spec.measurementType}`);
  }
}

function reachFigures(
  result: specs.Measurement_Result,
  privacy: PrivacyParams | undefined,
  width: number,
  config: ShareShuffleConfig,
) {
  const reach = required(result.reach, 'reach');
  const sample: ShareShuffleReachParams = {
    reach: Number(reach.value),
    frequencyVectorSize: vectorSizeOf(reach, config),
    width,
    noiseVariance: noiseOf(reach, privacy),
  };
  const people = shareShuffleUniverse(sample);
  if (!(sample.reach >= 0 && sample.reach <= people)) {
    throw new FiguresFault('RESULT_MALFORMED', `it has a reach of ${reach.value} among ${people} people`);
  }
  const { aggregator, firstWorker, secondWorker } = config;
  const figures = {
    reach: estimate(sample.reach, known(shareShuffleReachVariance(sample)), people),
    ...how(reach),
    aggregator,
    workers: [firstWorker, secondWorker] satisfies [string, string],
  };
  return { figures, sample };
}

function atFrequency(share: number, params: ShareShuffleFrequencyParams) {
  const { frequency, count } = params;
  return {
    frequency,
    share: estimate(share, known(shareShuffleShareVariance(params)), 1),
    count: estimate(count, known(shareShuffleCountVariance(params)), shareShuffleUniverse(params)),
  };
}

type Reported = specs.Measurement_Result_Reach | specs.Measurement_Result_Frequency;

/** How many people are in the sample, as the aggregator states it. */
function vectorSizeOf({ methodology, noiseMechanism }: Reported, config: ShareShuffleConfig): number {
  if (methodology.case !== 'honestMajorityShareShuffle') {
    throw new FiguresFault(
      'PROTOCOL_MISMATCH',
      `it was computed by ${methodology.case ?? 'nothing that it names'}, not by honestMajorityShareShuffle`,
    );
  }
  const stated = mechanismOf(noiseMechanism);
  if (stated !== undefined && stated !== config.noiseMechanism) {
    throw new FiguresFault(
      'PROTOCOL_MISMATCH',
      `it has ${stated} noise, and protocolConfig says ${config.noiseMechanism}`,
    );
  }
  const size = Number(methodology.value.frequencyVectorSize);
  if (size >= 1 && size <= MAX_VECTOR_SIZE) return size;
  throw new FiguresFault('RESULT_MALFORMED', `it is of a sample of ${size} people`);
}

/** VIDs are below 2^31. */
const MAX_VECTOR_SIZE = 2 ** 31;

/** Infinity where the result does not say which noise it has, or one that does not fit what was asked. */
function noiseOf({ noiseMechanism }: Reported, params: PrivacyParams | undefined): number {
  const mechanism = mechanismOf(noiseMechanism);
  if (mechanism !== 'DISCRETE_GAUSSIAN' && mechanism !== 'GEOMETRIC' && mechanism !== 'NONE') {
    return Number.POSITIVE_INFINITY;
  }
  try {
    return mpcNoise(mechanism, params).variance;
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Differences of infinite variances are NaN. */
function known(variance: number): number | undefined {
  return Number.isFinite(variance) ? variance : undefined;
}
