/** The inputs of a plan other than the report's definition. */
import type { Subpopulation } from '@measurement-exchange/contract';
import type { ComputedBy, NoiseChoice } from '@measurement-exchange/mpc/charges';

export interface Surroundings {
  /** Returns how duchies would compute a union of several data providers, or undefined if they cannot compute it. */
  computedBy(type: 'REACH' | 'REACH_AND_FREQUENCY', dataProviders: readonly string[]): ComputedBy | undefined;
  /** The number of people in the population. */
  population?: number;
  /** The values of each attribute of the population. Default: the values in `subpopulations`. */
  attributes?: Readonly<Record<string, readonly string[]>>;
  /**
   * The attributes of the population's people. If they are present, several disjoint groups cost only as much as the
   * most expensive one. If they are absent, a plan assumes that one person can be in all groups, so the costs of the
   * groups add up.
   */
  subpopulations?: readonly Subpopulation[];
  /**
   * Returns the reference (the data provider's own ID of an event group) to which the data provider charges
   * measurements of an event group. Default: the event group's name.
   */
  referenceOf?(eventGroup: string): string;
  /** Returns the settings of a data provider that affect its noise. */
  noiseOf?(dataProvider: string): NoiseChoice;
  /** The keys of needs that have been answered. */
  answered?: ReadonlySet<string>;
  /** The reach to assume for each segment when computing expected errors. Default: 1,000,000. */
  assumedReach?: Readonly<Record<string, number>>;
  /** The VID sampling interval. By default, everybody is sampled. */
  vidSamplingInterval?: { start: number; width: number };
}

/** Thrown if no plan can answer the definition. The message says what to change. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}
