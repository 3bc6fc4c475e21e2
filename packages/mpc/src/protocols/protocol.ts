/**
 * The functions that a protocol of duchies defines, in a folder beside this file. Each protocol has a line in
 * `protocols.ts`.
 */
import type { DuchyRole, MeasurementType, PlainSpec, Violation } from '@measurement-exchange/contract';
import type { MpcRelease } from '../privacy/countCost.ts';
import type { Charge } from '../privacy/noise.ts';
import type { VidSamplingInterval } from '../privacy/vidSampling.ts';
import type { StageTable } from './stages.ts';

/** The duchies that take part, each with its role. Where they form a ring, they are in its order. */
export type Roles = [duchy: string, role: DuchyRole][];

/** The population that all data providers of a computation must have in common. */
export interface CommonPopulation {
  name: string;
  fingerprint: Uint8Array;
}

export interface ProtocolMath<Config, Parameters> {
  /** The types of measurements that the protocol computes. */
  computes: readonly MeasurementType[];
  stages: StageTable;
  rolesOf(config: Config): Roles;
  /** The violations in a config, beyond the types of its members. Their fields are those of the config. */
  violationsOf(config: Config): Violation[];
  /** Undefined where the protocol needs no common population. */
  populationOf(config: Config): CommonPopulation | undefined;
  /** Whether a sampling interval may go beyond 1 and continue at 0. */
  takesWrappedSamples: boolean;
  /** The number of registers of each upload. `populationSize` is 0 without a common population. */
  registerCountOf(config: Config, interval: VidSamplingInterval, populationSize: number): number;
  /** The highest frequency that the config has room for. */
  maximumFrequencyOf(config: Config): number;
  /**
   * The parameters that all duchies must agree on. Throws a RangeError that names the field where the protocol cannot
   * do what is asked for.
   */
  parametersOf(
    spec: PlainSpec,
    config: Config,
    given: { dataProviderCount: number; registerCount: number },
  ): Parameters;
  /** The charge to one unit of privacy. Throws a RangeError where no noise can meet the parameters. */
  chargeOf(release: MpcRelease, config: Config, dataProviderCount: number): Charge;
}
