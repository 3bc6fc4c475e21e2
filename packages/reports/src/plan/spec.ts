/** The specification of a need's measurement, and its charges. */
import type { PlainSpec, PrivacyParams } from '@measurement-exchange/contract';
import { chargedPlaces, measurementCost, type Units } from '@measurement-exchange/mpc/charges';
import { dataProviderOf, type Need } from '../needs/need.ts';
import type { Surroundings } from './surroundings.ts';
import type { Place, UnpricedNeed } from './types.ts';

/** Returns the part of a measurement's specification that determines the cost. */
export function specOf(need: Need, params: PrivacyParams): PlainSpec {
  const common = { vidSamplingInterval: need.vidSamplingInterval };
  return { ...common, ...typeOf(need, params) } as unknown as PlainSpec;
}

function typeOf({ type, maximumFrequency, maximumPerPerson }: Need, privacyParams: PrivacyParams) {
  switch (type) {
    case 'REACH':
      return { measurementType: type, reach: { privacyParams } };
    case 'REACH_AND_FREQUENCY': {
      const both = { reachPrivacyParams: privacyParams, frequencyPrivacyParams: privacyParams };
      return { measurementType: type, reachAndFrequency: { ...both, maximumFrequency } };
    }
    case 'IMPRESSION':
      return {
        measurementType: type,
        impression: { privacyParams, maximumFrequencyPerUser: maximumPerPerson },
      };
    case 'DURATION':
      return {
        measurementType: type,
        duration: { privacyParams, maximumWatchDurationPerUser: maximumPerPerson },
      };
  }
}

/**
 * Returns a function that lists the places to which a need is charged. A place is one day of one event group reference
 * of a data provider. The function caches the places, because needs share most of them.
 */
export function placeLister({ referenceOf }: Surroundings): (need: Need) => Place[] {
  const known = new Map<string, Place[]>();
  return ({ cells, period }) => {
    const providers = Map.groupBy(cells, ({ eventGroup }) => dataProviderOf(eventGroup));
    return [...providers].flatMap(([dataProvider, own]) => {
      const references = [...new Set(own.map(({ eventGroup }) => referenceOf?.(eventGroup) ?? eventGroup))];
      const id = JSON.stringify([dataProvider, references, period]);
      const interval = { start: new Date(period.start), end: new Date(period.end) };
      const places =
        known.get(id) ??
        chargedPlaces(references.map((reference) => ({ reference, interval }))).map(({ reference, day }) => ({
          ...{ dataProvider, reference, day },
          id: `${dataProvider} ${reference} ${day}`,
        }));
      known.set(id, places);
      return places;
    });
  };
}

/**
 * Returns the cost of a need: the amount that a data provider's ledger charges for each event group reference and day.
 * This amount is the same for every reference and day.
 */
export function costAt(
  { need, computed, dataProviders }: UnpricedNeed,
  params: PrivacyParams,
  dataProvider: string,
  { noiseOf }: Surroundings,
): Units {
  return measurementCost(specOf(need, params), computed, dataProviders.length, noiseOf?.(dataProvider));
}
