/** The figures that a data provider computes for a measurement without duchies, and their privacy cost. */
import type { PlainSpec, PrivacyParams } from '@measurement-exchange/contract';
import { charge, type NoiseMechanism } from '../privacy/noise.ts';
import { addUnits, costInUnits, NOTHING, type Units } from './amounts.ts';

export interface NoiseChoice {
  /**
   * The noise mechanism. Default: Gaussian if the consumer allows a delta above 0, otherwise geometric (integer
   * Laplace).
   */
  noise?: NoiseMechanism | undefined;
  /** The provider's cap on the impressions per person. A result states this cap if the consumer's cap is higher. */
  maximumFrequencyPerUser?: number | undefined;
}

/**
 * One or more figures that are released with the same privacy parameters. A reference is the value that selects an
 * event group's events in the provider's data. A privacy unit is all events of one person that belong to one reference
 * and one UTC day (see docs/privacy.md).
 */
export interface Release {
  params: PrivacyParams;
  mechanism: NoiseMechanism;
  /** The maximum amount by which one privacy unit can change a figure. The noise is calibrated to this amount. */
  sensitivity: bigint;
  /** The maximum number of figures that one privacy unit can change. Each of these figures adds to the cost. */
  changed: number;
}

/**
 * Returns the measurement's releases in a fixed order. For impressions and durations, the sensitivity is the cap on a
 * person's total over all selected events.
 */
export function releasesOf(spec: PlainSpec, choice: NoiseChoice = {}): Release[] {
  // measurementSpecViolations has checked that the parameters are present.
  const release = (params: PrivacyParams | undefined, sensitivity = 1n, changed = 1): Release => ({
    params: params!,
    mechanism: choice.noise ?? (params!.delta > 0 ? 'DISCRETE_GAUSSIAN' : 'GEOMETRIC'),
    sensitivity,
    changed,
  });
  switch (spec.measurementType) {
    case 'REACH':
      return [release(spec.reach.privacyParams)];
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
      // One privacy unit can move a person from one frequency to another, which changes two counts by one each.
      return [release(reachPrivacyParams), release(frequencyPrivacyParams, 1n, 2)];
    }
    case 'IMPRESSION': {
      const { maximumFrequencyPerUser: asked } = spec.impression;
      const maximum = Math.min(asked, choice.maximumFrequencyPerUser ?? asked);
      return [release(spec.impression.privacyParams, BigInt(maximum))];
    }
    case 'DURATION':
      return [release(spec.duration.privacyParams, capMillis(spec.duration.maximumWatchDurationPerUser!))];
    case 'POPULATION':
      return [];
  }
}

/**
 * Returns the cost of a result that a provider computes without duchies. The cost is charged to each reference and day.
 */
export function directCost(spec: PlainSpec, choice?: NoiseChoice): Units {
  return releasesOf(spec, choice)
    .map(({ mechanism, params, sensitivity, changed }) =>
      costInUnits(charge(mechanism, params, sensitivity, changed)),
    )
    .reduce(addUnits, NOTHING);
}

/**
 * Converts seconds to whole milliseconds, rounded down. Digits beyond nanoseconds are floating-point errors, so they
 * are rounded away first.
 */
export function capMillis(seconds: number): bigint {
  return BigInt(Math.floor(Number((seconds * 1000).toFixed(6))));
}
