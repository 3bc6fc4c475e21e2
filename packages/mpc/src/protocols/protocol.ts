/** What a protocol of duchies defines: a folder beside this file, and a line in `protocols.ts`. */
import type { DuchyRole, MeasurementType, PlainSpec, Violation } from '@measurement-exchange/contract';
import type { MpcRelease } from '../privacy/countCost.ts';
import type { Charge } from '../privacy/noise.ts';

/** The duchies that take part, each with its role. */
export type Roles = [duchy: string, role: DuchyRole][];

export interface ProtocolMath<Config, Parameters> {
  /** The types of measurements that the protocol computes. */
  computes: readonly MeasurementType[];
  rolesOf(config: Config): Roles;
  /** What is wrong with a config, beyond the types of its members. Fields are those of the config. */
  violationsOf(config: Config): Violation[];
  /** What all duchies must agree on. Throws a RangeError that names the field where the protocol cannot do what is asked for. */
  parametersOf(
    spec: PlainSpec,
    config: Config,
    given: { dataProviderCount: number; registerCount: number },
  ): Parameters;
  /** What one unit of privacy is charged. Throws a RangeError where no noise can meet the parameters. */
  chargeOf(release: MpcRelease, config: Config, dataProviderCount: number): Charge;
}
