/** The interface of a duchy protocol. Each protocol implements this interface in a folder next to this file. */
import type { DuchyRole, MeasurementType, PlainSpec, Violation } from '@measurement-exchange/contract';
import type { MpcRelease } from '../privacy/countCost.ts';
import type { Charge } from '../privacy/noise.ts';
import type { VidSamplingInterval } from '../privacy/vidSampling.ts';
import type { StageTable } from './stages.ts';

/**
 * The duchies of a computation and their roles. In a Liquid Legions protocol, the duchies form a ring and are in ring
 * order.
 */
export type Roles = [duchy: string, role: DuchyRole][];

export interface CommonPopulation {
  name: string;
  fingerprint: Uint8Array;
}

export interface ProtocolMath<Config, Parameters> {
  computes: readonly MeasurementType[];
  stages: StageTable;
  rolesOf(config: Config): Roles;
  /** Returns the problems with a config, by field. Assumes that every field has the right type. */
  violationsOf(config: Config): Violation[];
  /** Returns the population that all data providers must share, or undefined if the protocol does not need one. */
  populationOf(config: Config): CommonPopulation | undefined;
  /** Whether a sampling interval is allowed to extend past 1 and continue at 0. */
  takesWrappedSamples: boolean;
  /** Returns the number of registers in each upload. `populationSize` is 0 if there is no common population. */
  registerCountOf(config: Config, interval: VidSamplingInterval, populationSize: number): number;
  maximumFrequencyOf(config: Config): number;
  /**
   * Returns the parameters that all duchies must agree on. Throws a RangeError if the protocol cannot fulfill the spec.
   */
  parametersOf(
    spec: PlainSpec,
    config: Config,
    given: { dataProviderCount: number; registerCount: number },
  ): Parameters;
  /**
   * Returns the privacy cost of a release for one privacy unit. Throws a RangeError if no noise can meet the privacy
   * parameters.
   */
  chargeOf(release: MpcRelease, config: Config, dataProviderCount: number): Charge;
}
