/** The privacy cost of a release by a ring of duchies, for the people of one data provider. */
import {
  type LiquidLegionsConfig,
  legionsNoiseShapes,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { asCharge, type Cost, costOfCount, FREE, type MpcRelease } from '../../privacy/countCost.ts';
import type { Charge } from '../../privacy/noise.ts';

/** A release of a Liquid Legions protocol, and the privacy parameters that hide the rest from its aggregator. */
export type LegionsRelease = MpcRelease & {
  dataProviders: number;
  /** The number of duchies, the aggregator included: each of them adds noise. */
  duchies: number;
  histogramPrivacyParams: PrivacyParams;
  publisherPrivacyParams: PrivacyParams;
};

/**
 * The charge to one unit of privacy for all that the aggregator of a Liquid Legions protocol sees, which is more than
 * the consumer sees (docs/privacy.md). A unit changes one register of one provider, and with it the number of empty
 * ones. Where no other provider has the register, it changes the number of registers in use, and one frequency; else
 * it moves a register between two numbers of providers, and between two frequencies. The aggregator knows its own
 * noise, so only the noise of the other duchies counts. Throws a RangeError where the parameters cannot be met.
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
  const { histogramPrivacyParams, publisherPrivacyParams } = config;
  const duchies = config.workers.length + 1;
  return legionsCharge({
    ...release,
    histogramPrivacyParams,
    publisherPrivacyParams,
    dataProviders,
    duchies,
  });
}
