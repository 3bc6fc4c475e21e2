/** Computes how much privacy a release by a ring of duchies costs the people of one data provider. */
import {
  type LiquidLegionsConfig,
  legionsNoiseShapes,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { asCharge, type Cost, costOfCount, FREE, type MpcRelease } from '../../privacy/countCost.ts';
import type { Charge } from '../../privacy/noise.ts';

/**
 * A release by a Liquid Legions protocol, with the privacy parameters for the numbers that only the aggregator sees.
 */
export type LegionsRelease = MpcRelease & {
  dataProviders: number;
  /** The number of duchies that add noise, including the aggregator. */
  duchies: number;
  histogramPrivacyParams: PrivacyParams;
  publisherPrivacyParams: PrivacyParams;
};

/**
 * Returns the privacy cost of a release for one privacy unit. The charge covers everything that the aggregator sees,
 * which is more than the consumer sees. The aggregator knows its own noise, so only the noise of the other duchies
 * counts. docs/privacy.md derives the formula. Throws a RangeError if no noise can meet the parameters.
 */
export function legionsCharge(release: LegionsRelease): Charge {
  const { noiseMechanism, duchies, dataProviders } = release;
  const shapes = legionsNoiseShapes(dataProviders, duchies);
  const costOf = (count: keyof typeof shapes, params: PrivacyParams) =>
    costOfCount(noiseMechanism, params, shapes[count], duchies - 1);
  const reach = costOf('reach', release.reachPrivacyParams);
  const publisher = costOf('publisher', release.publisherPrivacyParams);
  const histogram = costOf('histogram', release.histogramPrivacyParams);
  const frequency =
    release.measurementType === 'REACH' ? FREE : costOf('frequency', release.frequencyPrivacyParams);
  const total = (measure: keyof Cost) =>
    publisher[measure] +
    frequency[measure] +
    Math.max(reach[measure], frequency[measure] + 2 * histogram[measure]);
  return asCharge(noiseMechanism, { spent: total('spent'), delta: total('delta') });
}

export function chargeOf(release: MpcRelease, config: LiquidLegionsConfig, dataProviders: number): Charge {
  return legionsCharge({ ...config, ...release, dataProviders, duchies: config.workers.length + 1 });
}
