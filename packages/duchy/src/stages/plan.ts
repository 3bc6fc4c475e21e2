/** What a computation is about, from the spec that its consumer signed. */
import {
  type Computation,
  decodeMeasurementSpec,
  type PlainSpec,
  type ShareShuffleConfig,
} from '@measurement-exchange/contract';
import type { StoredComputation } from '../database/index.ts';
import { PermanentError } from '../errors.ts';
import { type ShareShuffleParameters, shareShuffleParameters } from '../shareShuffle/index.ts';

export interface Plan {
  spec: PlainSpec;
  parameters: ShareShuffleParameters;
}

/** Throws PermanentError where the protocol cannot do what is asked for. */
export function planOf({
  spec: bytes,
  view,
  registerCount,
}: Pick<StoredComputation, 'spec' | 'view' | 'registerCount'>): Plan {
  const decoded = decodeMeasurementSpec(bytes);
  if ('error' in decoded) throw new PermanentError(`The MeasurementSpec cannot be read: ${decoded.error}.`);
  const { spec } = decoded;
  try {
    return { spec, parameters: parametersOf(spec, configOf(view), view.requisitions.length, registerCount) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PermanentError(`The protocol cannot do this: ${error.message}.`);
  }
}

export function configOf({ protocolConfig }: Pick<Computation, 'protocolConfig'>): ShareShuffleConfig {
  const config = protocolConfig.honestMajorityShareShuffle;
  if (config === undefined) throw new PermanentError('This duchy does not know the protocol.');
  return config;
}

function parametersOf(
  spec: PlainSpec,
  { ringModulus, noiseMechanism }: ShareShuffleConfig,
  dataProviderCount: number,
  registerCount: number,
): ShareShuffleParameters {
  const common = { ringModulus, noiseMechanism, dataProviderCount, registerCount };
  switch (spec.measurementType) {
    case 'REACH':
      return shareShuffleParameters({ ...common, measurementType: 'REACH', ...spec.reach });
    case 'REACH_AND_FREQUENCY':
      return shareShuffleParameters({
        ...common,
        measurementType: 'REACH_AND_FREQUENCY',
        ...spec.reachAndFrequency,
      });
    default:
      throw new PermanentError(`${spec.measurementType} is not computed by duchies.`);
  }
}
