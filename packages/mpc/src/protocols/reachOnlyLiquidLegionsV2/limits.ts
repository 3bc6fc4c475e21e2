/** Computes the parameters that all duchies must agree on, from the config and the spec of a reach measurement. */
import type { PlainSpec, ReachOnlyLiquidLegionsV2Config } from '@measurement-exchange/contract';
import {
  fitting,
  type NoiseParameters,
  type NoiseSpec,
  noiseParameters,
  noiseSpecOf,
} from '../liquidLegions/noiseParameters.ts';

export function parametersOf(
  spec: PlainSpec,
  config: ReachOnlyLiquidLegionsV2Config,
  { dataProviderCount }: { dataProviderCount: number },
): NoiseParameters {
  if (spec.measurementType !== 'REACH') throw new RangeError(`${spec.measurementType} is not computed`);
  const noise = noiseSpecOf(config, dataProviderCount);
  return fitting(reachOnlyParameters({ ...noise, privacyParams: spec.reach.privacyParams! }));
}

export function reachOnlyParameters(spec: NoiseSpec): NoiseParameters {
  return noiseParameters(spec, 'reachOnlyLiquidLegionsV2');
}
