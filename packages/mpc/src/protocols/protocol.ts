/**
 * The functions that a protocol of duchies defines, in a folder beside this file. Each protocol has a line in
 * `protocols.ts`.
 */
import type { DuchyRole, MeasurementType, PlainSpec, Violation } from '@measurement-exchange/contract';
import type { MpcRelease } from '../privacy/countCost.ts';
import type { Charge } from '../privacy/noise.ts';

/** The duchies that take part, each with its role. */
export type Roles = [duchy: string, role: DuchyRole][];

export interface ProtocolMath<Config, Parameters> {
  /** The types of measurements that the protocol computes. */
  computes: readonly MeasurementType[];
  rolesOf(config: Config): Roles;
  /** The violations in a config, beyond the types of its members. Their fields are those of the config. */
  violationsOf(config: Config): Violation[];
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
