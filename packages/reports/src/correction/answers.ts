/**
 * The measured answers to a report's needs (the quantities that the report must measure), and the settings that
 * determine the errors of these answers.
 */
import type { PrivacyParams } from '@measurement-exchange/contract';
import type { ReportedNoiseMechanism } from '@measurement-exchange/mpc';
import type { PlannedNeed } from '../plan/types.ts';

/** The noise that a result states. If a result states no noise, only its rounding error is known. */
export interface StatedNoise {
  mechanism: ReportedNoiseMechanism;
  params?: PrivacyParams;
  /** The privacy parameters of the noise in the frequencies. Default: `params`. */
  frequencyParams?: PrivacyParams;
}

export type Methodology = {
  /** The width of the VID sampling interval. */
  width: number;
  noise?: StatedNoise;
} & (
  | { protocol: 'direct' }
  | { protocol: 'honestMajorityShareShuffle'; frequencyVectorSize: number }
  | {
      protocol: 'liquidLegionsV2' | 'reachOnlyLiquidLegionsV2';
      decayRate: number;
      maxSize: number;
      /** The number of duchies, including the aggregator. */
      duchies: number;
      samplingIndicatorSize?: number;
    }
);

export interface Answer {
  /** The reach, the number of impressions, or the seconds watched. */
  value: number;
  /** The cap per person that the data provider stated, if it is lower than the cap that was asked for. */
  cap?: number;
  /** For each frequency, starting with 1, the fraction of the reached people who have this frequency. */
  shares?: readonly number[];
  methodology: Methodology;
}

/**
 * One measured number: a reach, a number of impressions, the seconds watched, or the number of people at a frequency.
 */
export interface Row {
  planned: PlannedNeed;
  answer: Answer;
  /** Set only if the row is one frequency of a distribution. */
  frequency?: number;
  value: number;
}

/** Returns a row for each measured number. A distribution has one row per frequency, and the rows sum to the reach. */
export function rowsOf(planned: PlannedNeed, answer: Answer): Row[] {
  if (planned.need.type !== 'REACH_AND_FREQUENCY') return [{ planned, answer, value: answer.value }];
  return sharesOf(planned, answer).map((share, i) => ({
    ...{ planned, answer },
    frequency: i + 1,
    value: share * answer.value,
  }));
}

/**
 * Returns the share of each frequency, scaled to a sum of 1. If nobody was reached, the answer has no shares, and the
 * function returns equal shares for all frequencies.
 */
export function sharesOf({ need }: PlannedNeed, { shares = [] }: Answer): number[] {
  const length = need.maximumFrequency!;
  const total = shares.reduce((sum, share) => sum + share, 0);
  if (!(total > 0)) return new Array<number>(length).fill(1 / length);
  return Array.from({ length }, (_, i) => (shares[i] ?? 0) / total);
}

export function isCount({ planned }: Row): boolean {
  return planned.need.type === 'IMPRESSION' || planned.need.type === 'DURATION';
}
