/**
 * Estimates the errors of HonestMajorityShareShuffle figures. The errors depend on the sample size, which the
 * aggregator signs.
 */
import type { PrivacyParams, specs } from '@measurement-exchange/contract';
import {
  estimate,
  shareShuffleCountVariance,
  shareShuffleReachVariance,
  shareShuffleShareVariance,
  shareShuffleUniverse,
} from '@measurement-exchange/mpc';
import { type DuchyEstimates, duchyNoiseVariance, known } from '../duchyErrors.ts';
import { atLeastOf, FiguresFault } from '../figures.ts';

export function shareShuffleErrors(
  reach: specs.Measurement_Result_Reach,
  privacyParams: PrivacyParams | undefined,
  width: number,
): DuchyEstimates {
  const sample = {
    reach: Number(reach.value),
    frequencyVectorSize: vectorSizeOf(reach),
    width,
    noiseVariance: duchyNoiseVariance(reach, privacyParams),
  };
  const maximum = shareShuffleUniverse(sample);
  return {
    maximum,
    reach: estimate(sample.reach, known(shareShuffleReachVariance(sample)), maximum),
    atFrequencies(frequency, shares, { frequencyPrivacyParams, maximumFrequency }) {
      if (vectorSizeOf(frequency) !== sample.frequencyVectorSize) {
        throw new FiguresFault('RESULT_MALFORMED', 'its reach and its frequency are of different samples');
      }
      const frequencyNoiseVariance = duchyNoiseVariance(frequency, frequencyPrivacyParams);
      const atLeast = atLeastOf(shares);
      return shares.map((share, i) => {
        const count = share * sample.reach;
        const at = { ...sample, count, frequency: i + 1, maximumFrequency, frequencyNoiseVariance };
        const orMore = { ...at, orMore: true, count: atLeast[i]! * sample.reach };
        return {
          share: estimate(share, known(shareShuffleShareVariance(at)), 1),
          count: estimate(count, known(shareShuffleCountVariance(at)), maximum),
          atLeast: estimate(orMore.count, known(shareShuffleCountVariance(orMore)), maximum),
        };
      });
    },
  };
}

/** Returns the sample size that the aggregator states. Throws `FiguresFault` if the size is missing or invalid. */
function vectorSizeOf({
  methodology,
}: specs.Measurement_Result_Reach | specs.Measurement_Result_Frequency): number {
  const size =
    methodology.case === 'honestMajorityShareShuffle' ? Number(methodology.value.frequencyVectorSize) : 0;
  if (size >= 1 && size <= MAX_VECTOR_SIZE) return size;
  throw new FiguresFault('RESULT_MALFORMED', `it is of a sample of ${size} people`);
}

/**
 * The maximum number of people in a sample. All virtual person IDs (VIDs) in a population at the exchange are below
 * 2^31.
 */
const MAX_VECTOR_SIZE = 2 ** 31;
