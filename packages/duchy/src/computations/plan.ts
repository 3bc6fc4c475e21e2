/** The plan of a computation: the parameters of its protocol, from the spec that the consumer signed and the config. */
import {
  type Computation,
  decodeMeasurementSpec,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  legionsRegisterCount,
  liquidLegionsOf,
  MAX_LEGIONS_REGISTERS,
  type PlainSpec,
  PROTOCOLS,
  type Protocol,
  type ProtocolConfig,
} from '@measurement-exchange/contract';
import {
  type FrequencyParameters,
  frequencyParameters,
  type NoiseParameters,
  reachOnlyParameters,
} from '@measurement-exchange/mpc/liquidLegions';
import { type ShareShuffleParameters, shareShuffleParameters } from '@measurement-exchange/mpc/shareShuffle';
import type { StoredComputation } from '../database/index.ts';
import { PermanentError } from './errors.ts';

/** The protocols that duchies compute. */
export type MpcProtocol = Exclude<Protocol, 'direct'>;

interface Parameters {
  honestMajorityShareShuffle: ShareShuffleParameters;
  reachOnlyLiquidLegionsV2: NoiseParameters;
  liquidLegionsV2: FrequencyParameters;
}

type Configs = { [P in MpcProtocol]: NonNullable<ProtocolConfig[P]> };

export interface Plan<P extends MpcProtocol> {
  spec: PlainSpec;
  parameters: Parameters[P];
}

/** Throws PermanentError where the protocol cannot compute the measurement. */
export function planOf<P extends MpcProtocol>(
  protocol: P,
  computation: Pick<StoredComputation, 'spec' | 'view' | 'registerCount'>,
): Plan<P> {
  const { view, registerCount } = computation;
  const spec = specOf(computation);
  try {
    return { spec, parameters: PARAMETERS[protocol](spec, configOf(protocol, view), view, registerCount) };
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

/** Throws PermanentError unless exactly one protocol is set. */
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
): Configs[P] {
  const config = protocolConfig[protocol];
  if (config === undefined)
    throw new PermanentError('PROTOCOL_UNKNOWN', { field: `protocolConfig.${protocol}` });
  return config as Configs[P];
}

/** The config of a computation with sketches, under either of the two protocols. */
export function legionsOf({ protocolConfig }: Pick<Computation, 'protocolConfig'>): {
  protocol: LiquidLegionsProtocol;
  config: LiquidLegionsConfig;
} {
  const legions = liquidLegionsOf(protocolConfig);
  if (legions === undefined) throw new PermanentError('PROTOCOL_UNKNOWN');
  return legions;
}

const PARAMETERS: {
  [P in MpcProtocol]: (
    spec: PlainSpec,
    config: Configs[P],
    view: Computation,
    registerCount: number,
  ) => Parameters[P];
} = {
  honestMajorityShareShuffle(spec, { ringModulus, noiseMechanism }, { requisitions }, registerCount) {
    const common = { ringModulus, noiseMechanism, dataProviderCount: requisitions.length, registerCount };
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
        throw notComputed(spec);
    }
  },
  reachOnlyLiquidLegionsV2(spec, config, view) {
    if (spec.measurementType !== 'REACH') throw notComputed(spec);
    return fitting(
      reachOnlyParameters({ ...noiseOf(config, view), privacyParams: spec.reach.privacyParams! }),
    );
  },
  liquidLegionsV2(spec, config, view) {
    if (spec.measurementType !== 'REACH_AND_FREQUENCY') throw notComputed(spec);
    const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
    if (maximumFrequency > config.maximumFrequency) {
      throw new RangeError(`maximumFrequency must be at most ${config.maximumFrequency}`);
    }
    return fitting(
      frequencyParameters({
        ...noiseOf(config, view),
        privacyParams: reachPrivacyParams!,
        frequencyPrivacyParams: frequencyPrivacyParams!,
        maximumFrequency,
      }),
    );
  },
};

function noiseOf({ workers, ...config }: LiquidLegionsConfig, { requisitions }: Computation) {
  const { noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams } = config;
  return {
    ...{ noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams },
    dataProviderCount: requisitions.length,
    duchyCount: workers.length + 1,
  };
}

/** Every duchy holds the registers of all providers and duchies in memory. */
function fitting<N extends NoiseParameters & Partial<FrequencyParameters>>(parameters: N): N {
  const { dataProviderCount, maxSize, duchyCount, noiseRegisterCount, noiseTupleCount = 0 } = parameters;
  const registers = legionsRegisterCount(
    { dataProviders: dataProviderCount, maxSize },
    { duchies: duchyCount, registers: noiseRegisterCount, tuples: noiseTupleCount },
  );
  if (registers <= MAX_LEGIONS_REGISTERS) return parameters;
  throw new RangeError(`maxSize and the noise make ${registers} registers, and ${MAX_LEGIONS_REGISTERS} fit`);
}

function notComputed({ measurementType }: PlainSpec): PermanentError {
  return new PermanentError(
    'PROTOCOL_UNFIT',
    { field: 'measurementSpec.measurementType' },
    { detail: measurementType },
  );
}
