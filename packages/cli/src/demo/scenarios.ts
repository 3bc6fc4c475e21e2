/** The measurements that the demo's advertiser creates, and the matching SQL conditions for the true figures. */
import type { MeasurementRequest } from '@measurement-exchange/sdk';
import { type Audience, CAMPAIGN } from '../publishers/audience.ts';
import { campaignOf } from '../publishers/eventGroups.ts';
import { shortName } from './figures.ts';
import { SKETCHED, TOO_CLOSE, USUAL } from './privacy.ts';
import { ABOUT_FREQUENCY, ABOUT_REACH, sampleOf } from './sketches.ts';

export interface Scenario {
  title: string;
  /** An explanation of the figures, if they need one. */
  about?: string;
  request: MeasurementRequest;
  /** The request's filter as an SQL condition, for computing the true figures. */
  where?: string;
  /** The justification for the refusal, if the demo expects a refusal. */
  refusal?: string;
  /**
   * Set if the measurement covers the reach and frequency of only one provider. The demo's report compares the
   * sum of these measurements' figures with the figure for all providers together.
   */
  alone?: true;
}

export const MAXIMUM_FREQUENCY = 8;
export const IMPRESSION_CAP = 10;
const WATCH_CAP_SECONDS = 120;
/**
 * The maximum frequency in measurements with sketches. People with a higher frequency count as having the maximum. A
 * low maximum makes the group of people with the maximum frequency larger, so that the relative error of its size is
 * smaller. A low maximum also makes the computation faster.
 */
const SKETCHED_FREQUENCY = 3;

/** Returns the demo's measurements. `eventGroups` maps each provider to its event groups' resource names. */
export function scenarios(
  audiences: Audience[],
  eventGroups: Map<string, string[]>,
  population: number,
): Scenario[] {
  const at = campaignOf(eventGroups);
  const everyone = audiences.map(({ dataProvider }) => dataProvider);
  const [first, second, third] = everyone as [string, string, string];
  const vidSampling = sampleOf(population);
  const reachAndFrequency = (names: string[]): MeasurementRequest => ({
    type: 'reachAndFrequency',
    dataProviders: at(names),
    privacy: USUAL,
    maximumFrequency: MAXIMUM_FREQUENCY,
  });
  return [
    ...everyone.map((name) => ({
      title: `Reach and frequency, ${shortName(name)} alone`,
      request: reachAndFrequency([name]),
      alone: true as const,
    })),
    {
      title: 'Reach of women on phones, half sampled',
      request: {
        type: 'reach',
        dataProviders: at([first], `gender == 'F' && device == 'phone'`),
        privacy: USUAL,
        vidSampling: { start: 0, width: 0.5 },
      },
      where: `gender = 'F' AND device = 'phone'`,
    },
    {
      title: 'Impressions, all providers',
      request: {
        type: 'impression',
        dataProviders: at(everyone),
        privacy: USUAL,
        maximumFrequencyPerUser: IMPRESSION_CAP,
      },
    },
    {
      title: 'Watch duration, video providers',
      request: {
        type: 'duration',
        dataProviders: at([first, second]),
        privacy: USUAL,
        maximumWatchDurationSeconds: WATCH_CAP_SECONDS,
      },
    },
    {
      title: 'Population: women of 35 and older',
      request: {
        type: 'population',
        dataProviders: [
          {
            name: third,
            population: { filter: `sex == 'F' && age != '18-34'`, interval: CAMPAIGN },
          },
        ],
      },
      where: `sex = 'F' AND age != '18-34'`,
    },
    {
      title: 'A filter on what no provider knows',
      request: { type: 'reach', dataProviders: at([second], `income > 100000`), privacy: USUAL },
      refusal: 'SPEC_INVALID',
    },
    {
      title: 'A question beyond the privacy budget',
      request: { type: 'reach', dataProviders: at([third]), privacy: TOO_CLOSE },
      refusal: 'INSUFFICIENT_PRIVACY_BUDGET',
    },
    // The duchies' measurements come last, because they take longest. The demo compares the other results with the true
    // figures in the meantime.
    { title: 'Reach and frequency, all providers', request: reachAndFrequency(everyone) },
    {
      title: 'Reach, all providers, with sketches',
      about: ABOUT_REACH,
      request: {
        type: 'reach',
        dataProviders: at(everyone),
        privacy: SKETCHED,
        vidSampling,
        protocol: 'reachOnlyLiquidLegionsV2',
      },
    },
    {
      title: 'Reach and frequency, all providers, with sketches',
      about: ABOUT_FREQUENCY,
      request: {
        ...reachAndFrequency(everyone),
        privacy: SKETCHED,
        maximumFrequency: SKETCHED_FREQUENCY,
        vidSampling,
        protocol: 'liquidLegionsV2',
      },
    },
  ];
}
