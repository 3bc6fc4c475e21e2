/** Reads the figures in a result that one data provider computed on its own, and estimates their errors. */
import { type PlainSpec, type PrivacyParams, specs } from '@measurement-exchange/contract';
import {
  countAtFrequencyVariance,
  customVariance,
  type Estimate,
  estimate,
  noiseVariance,
  type ReportedNoiseMechanism,
  relativeFrequencyVariance,
  scalarVariance,
} from '@measurement-exchange/mpc';
import { Fault } from '../verification/fault.ts';

/**
 * An estimate of the people who were reached exactly `frequency` times. The last entry also covers people reached more
 * often.
 */
export interface FrequencyEstimate {
  frequency: number;
  /** The share of the people with this frequency among everyone who was reached. */
  share: Estimate;
  count: Estimate;
  /** The number of people who were reached at least `frequency` times. */
  atLeast: Estimate;
}

/** The figures in a result. The type of measurement determines which members are present. */
export interface Figures {
  reach?: Estimate;
  /** One entry for each frequency from 1 to the requested maximum. Empty if the result counts nobody. */
  frequency?: FrequencyEstimate[];
  impressions?: Estimate;
  watchDurationSeconds?: Estimate;
  population?: Estimate;
  /**
   * The noise mechanism that the result states. Absent if the result states no mechanism, or an unknown one. Always
   * present for a population, with the default `NONE`.
   */
  noiseMechanism?: ReportedNoiseMechanism;
  /** The name of the methodology that the result states, such as `deterministicCountDistinct`. */
  methodology?: string;
  /** The noise mechanism and methodology of the frequency distribution, which may differ from those of the reach. */
  frequencyNoiseMechanism?: ReportedNoiseMechanism;
  frequencyMethodology?: string;
  /** The cap on impressions per person, if the data provider states a lower cap than it was asked to apply. */
  statedCap?: number;
}

/** The result is invalid, or its type or protocol is not the requested one. */
export class FiguresFault extends Fault<'RESULT_TYPE_MISMATCH' | 'RESULT_MALFORMED' | 'PROTOCOL_MISMATCH'> {
  override readonly name = 'FiguresFault';
}

export function figuresOf(spec: PlainSpec, result: specs.Measurement_Result): Figures {
  const width = spec.vidSamplingInterval?.width ?? 1;
  switch (spec.measurementType) {
    case 'REACH':
      return reachFigures(required(result.reach, 'reach'), spec.reach.privacyParams, width);
    case 'REACH_AND_FREQUENCY': {
      const asked = spec.reachAndFrequency;
      const figures = reachFigures(required(result.reach, 'reach'), asked.reachPrivacyParams, width);
      const frequency = required(result.frequency, 'frequency');
      return { ...figures, ...frequencyFigures(frequency, asked, figures.reach, width) };
    }
    case 'IMPRESSION': {
      const impression = required(result.impression, 'impression');
      const { privacyParams, maximumFrequencyPerUser } = spec.impression;
      const custom =
        impression.methodology.case === 'deterministicCount'
          ? impression.methodology.value.customMaximumFrequencyPerUser
          : 0;
      const unit = { perUser: custom || maximumFrequencyPerUser, scale: 1 };
      const impressions = scalar(Number(impression.value), impression, privacyParams, width, unit);
      const isLower = custom > 0 && custom < maximumFrequencyPerUser;
      return { impressions, ...how(impression), ...(isLower && { statedCap: custom }) };
    }
    case 'DURATION': {
      const duration = required(result.watchDuration, 'watchDuration');
      const { privacyParams, maximumWatchDurationPerUser = 0 } = spec.duration;
      const { seconds = 0n, nanos = 0 } = duration.value ?? {};
      // Convert to whole milliseconds, the unit of the noise. Rounding to nanoseconds first removes floating-point
      // errors.
      const millis = Math.floor(Number((maximumWatchDurationPerUser * 1000).toFixed(6)));
      const unit = { perUser: Math.max(1, millis), scale: 1000 };
      const value = Number(seconds) + nanos / 1e9;
      return {
        watchDurationSeconds: scalar(value, duration, privacyParams, width, unit),
        ...how(duration),
      };
    }
    case 'POPULATION': {
      const population = required(result.population, 'population');
      const { value, methodology } = population;
      // A deterministic count of a population uses no sampling and no noise, so its variance is 0.
      const variance = methodology.case === 'deterministicCount' ? 0 : undefined;
      return { population: estimate(value, variance), noiseMechanism: 'NONE', ...how(population) };
    }
  }
}

export function required<T>(member: T | undefined, name: string): T {
  if (member !== undefined) return member;
  throw new FiguresFault('RESULT_TYPE_MISMATCH', `it has no ${name}, which is what the measurement asks for`);
}

interface Reported {
  noiseMechanism?: specs.ProtocolConfig_NoiseMechanism;
  methodology: { case?: string | undefined; value?: unknown };
}

export function how({
  noiseMechanism,
  methodology,
}: Reported): Pick<Figures, 'noiseMechanism' | 'methodology'> {
  const mechanism = mechanismOf(noiseMechanism);
  return {
    ...(mechanism && { noiseMechanism: mechanism }),
    ...(methodology.case && { methodology: methodology.case }),
  };
}

export function mechanismOf(
  number: specs.ProtocolConfig_NoiseMechanism | undefined,
): ReportedNoiseMechanism | undefined {
  const [name] = Object.entries(specs.ProtocolConfig_NoiseMechanism).find(([, n]) => n === number) ?? [];
  return number ? (name as ReportedNoiseMechanism | undefined) : undefined;
}

type Reach = specs.Measurement_Result_Reach;
type Frequency = specs.Measurement_Result_Frequency;

function reachFigures(reach: Reach, privacy: PrivacyParams | undefined, width: number) {
  const unit = { perUser: 1, scale: 1 };
  return { reach: scalar(Number(reach.value), reach, privacy, width, unit), ...how(reach) };
}

/** Methodologies that count everyone in the sample. Their variance can be computed from the spec. */
const COUNTED = ['deterministicCountDistinct', 'deterministicCount', 'deterministicSum'];

/**
 * Estimates the error of a single value. `perUser` is the cap on what one user adds to the value, in the unit of the
 * noise. `scale` is the factor from the unit of the value to the unit of the noise, such as 1000 from seconds to
 * milliseconds.
 */
function scalar(
  value: number,
  reported: Reported,
  privacy: PrivacyParams | undefined,
  width: number,
  { perUser, scale }: { perUser: number; scale: number },
): Estimate {
  const { methodology } = reported;
  if (methodology.case === 'customDirectMethodology') {
    return estimate(value, stated(customVariance(methodology.value as specs.CustomDirectMethodology)));
  }
  const noise = noiseOf(reported, privacy, perUser);
  if (noise === undefined || perUser <= 0 || !COUNTED.includes(methodology.case ?? '')) {
    return estimate(value, undefined);
  }
  const variance = scalarVariance({
    value: value * scale,
    maximumPerUser: perUser,
    width,
    noiseVariance: noise,
  });
  return estimate(value, variance / scale ** 2);
}

/** Returns the noise variance, or undefined if the mechanism is unknown or does not match the spec's parameters. */
function noiseOf(
  { noiseMechanism }: Reported,
  privacy: PrivacyParams | undefined,
  sensitivity: number,
): number | undefined {
  const mechanism = mechanismOf(noiseMechanism);
  if (mechanism === undefined) return undefined;
  try {
    return noiseVariance(mechanism, privacy, sensitivity);
  } catch (error) {
    // The privacy parameters do not match the mechanism. For example, Gaussian noise needs a delta.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function stated(variance: number | undefined): number | undefined {
  return variance !== undefined && variance >= 0 ? variance : undefined;
}

export type AskedFrequency = Extract<
  PlainSpec,
  { measurementType: 'REACH_AND_FREQUENCY' }
>['reachAndFrequency'];

function frequencyFigures(
  frequency: Frequency,
  { frequencyPrivacyParams, maximumFrequency }: AskedFrequency,
  reach: Estimate,
  width: number,
): Pick<Figures, 'frequency' | 'frequencyNoiseMechanism' | 'frequencyMethodology'> {
  const shares = sharesOf(frequency, maximumFrequency);
  const noise = noiseOf(frequency, frequencyPrivacyParams, 1);
  const { noiseMechanism, methodology } = how(frequency);
  const atLeast = atLeastOf(shares);
  const countOf = (share: Estimate) => estimate(share.value * reach.value, countVariance(share, reach));
  return {
    frequency: shares.map((ratio, i) => {
      const k = i + 1;
      const share = estimate(ratio, shareVariance(k, ratio, false), 1);
      const orMore = atLeast[i]!;
      return {
        frequency: k,
        share,
        count: countOf(share),
        atLeast: k === 1 ? reach : countOf(estimate(orMore, shareVariance(k, orMore, true), 1)),
      };
    }),
    ...(noiseMechanism && { frequencyNoiseMechanism: noiseMechanism }),
    ...(methodology && { frequencyMethodology: methodology }),
  };

  function shareVariance(k: number, ratio: number, orMore: boolean): number | undefined {
    const { case: kind, value } = frequency.methodology;
    if (kind === 'customDirectMethodology') {
      return stated(customVariance(value, { frequency: k, orMore }));
    }
    if (kind !== 'deterministicDistribution' || noise === undefined) return undefined;
    return relativeFrequencyVariance({
      ratio,
      reach: reach.value,
      reachVariance: reach.variance,
      width,
      maximumFrequency,
      buckets: orMore ? maximumFrequency - k + 1 : 1,
      noiseVariance: noise,
    });
  }
}

export function atLeastOf(shares: readonly number[]): number[] {
  return shares.map((_, i) =>
    Math.min(
      1,
      shares.slice(i).reduce((sum, share) => sum + share, 0),
    ),
  );
}

export function countVariance(share: Estimate, reach: Estimate): number | undefined {
  // Return early, because multiplying 0 by an infinite variance would give NaN.
  if (!Number.isFinite(share.variance) || !Number.isFinite(reach.variance)) return undefined;
  return countAtFrequencyVariance({
    ratio: share.value,
    ratioVariance: share.variance,
    reach: reach.value,
    reachVariance: reach.variance,
  });
}

/**
 * Returns the share at each frequency from 1 to the maximum. A share that the result omits is 0. If all shares are 0,
 * the list is empty. Throws `FiguresFault` if a frequency or a share is out of range.
 */
export function sharesOf(frequency: Frequency, maximumFrequency: number): number[] {
  const shares = new Array<number>(maximumFrequency).fill(0);
  for (const [key, share] of Object.entries(frequency.relativeFrequencyDistribution)) {
    const k = Number(key);
    if (!(k >= 1 && k <= maximumFrequency)) {
      throw new FiguresFault('RESULT_MALFORMED', `it has a frequency outside 1 to ${maximumFrequency}`);
    }
    if (!(share >= 0 && share <= 1)) {
      throw new FiguresFault('RESULT_MALFORMED', 'it has a share that is not between 0 and 1');
    }
    shares[k - 1] = share;
  }
  return shares.some((share) => share > 0) ? shares : [];
}
