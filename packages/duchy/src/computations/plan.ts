/**
 * Derives a computation's plan: the spec that the consumer signed, and the protocol parameters. The parameters follow
 * from the spec, the protocol config, the number of providers, and the number of registers.
 */
import {
  type Computation,
  decodeMeasurementSpec,
  type PlainSpec,
  PROTOCOLS,
} from '@measurement-exchange/contract';
import {
  type MpcConfig,
  type MpcParameters,
  type MpcProtocol,
  protocolMath,
} from '@measurement-exchange/mpc/protocols';
import type { StoredComputation } from '../database/index.ts';
import { PermanentError } from './errors.ts';

export interface Plan<P extends MpcProtocol> {
  spec: PlainSpec;
  parameters: MpcParameters<P>;
}

/** Returns the plan. Throws PermanentError if the protocol cannot compute the measurement. */
export function planOf<P extends MpcProtocol>(
  protocol: P,
  computation: Pick<StoredComputation, 'spec' | 'view' | 'registerCount'>,
): Plan<P> {
  const { view, registerCount } = computation;
  const spec = specOf(computation);
  const { computes, parametersOf } = protocolMath(protocol);
  if (!computes.includes(spec.measurementType)) {
    const detail = spec.measurementType;
    throw new PermanentError('PROTOCOL_UNFIT', { field: 'measurementSpec.measurementType' }, { detail });
  }
  try {
    const given = { dataProviderCount: view.requisitions.length, registerCount };
    return { spec, parameters: parametersOf(spec, configOf(protocol, view), given) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PermanentError('PROTOCOL_UNFIT', {}, { detail: error.message, cause: error });
  }
}

export function specOf({ spec: bytes }: Pick<StoredComputation, 'spec'>): PlainSpec {
  const decoded = decodeMeasurementSpec(bytes);
  if ('error' in decoded) throw new PermanentError('SPEC_MALFORMED', { field: 'measurementSpec' });
  return decoded.spec;
}

export function protocolOf({ protocolConfig }: Pick<Computation, 'protocolConfig'>): MpcProtocol {
  const [protocol, ...others] = PROTOCOLS.filter((name) => protocolConfig[name] !== undefined);
  if (protocol === undefined || protocol === 'direct' || others.length > 0) {
    throw new PermanentError('PROTOCOL_UNKNOWN');
  }
  return protocol;
}

export function configOf<P extends MpcProtocol>(
  protocol: P,
  { protocolConfig }: Pick<Computation, 'protocolConfig'>,
): MpcConfig<P> {
  const config = protocolConfig[protocol];
  if (config === undefined)
    throw new PermanentError('PROTOCOL_UNKNOWN', { field: `protocolConfig.${protocol}` });
  return config as MpcConfig<P>;
}
