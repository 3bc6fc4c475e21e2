/** Translates protocol configurations. Parameters that only the duchies use are left out. */
import { create } from '@bufbuild/protobuf';
import {
  type LiquidLegionsConfig,
  type MeasurementType,
  type NativeObject,
  type ProtocolConfig,
  specs,
} from '@measurement-exchange/contract';
import { type DirectProtocol, METHODOLOGIES } from './direct.ts';

/** The number of the curve P-256 in OpenSSL. Both Liquid Legions protocols use this curve. */
const P256 = 415;

export function toProtocolConfig(
  config: ProtocolConfig | undefined,
  direct: DirectProtocol,
): specs.ProtocolConfig | undefined {
  if (config === undefined) return undefined;
  const { measurementType: type } = config;
  return create(specs.ProtocolConfigSchema, {
    ...(type !== undefined && { measurementType: specs.ProtocolConfig_MeasurementType[type] }),
    protocols: [{ protocol: protocolOf(config, direct) }],
  });
}

type Protocol = NonNullable<
  Parameters<typeof create<typeof specs.ProtocolConfig_ProtocolSchema>>[1]
>['protocol'];

function protocolOf(config: ProtocolConfig, direct: DirectProtocol): Protocol {
  const { liquidLegionsV2, reachOnlyLiquidLegionsV2, honestMajorityShareShuffle } = config;
  if (liquidLegionsV2) {
    const { samplingIndicatorSize, maximumFrequency } = liquidLegionsV2;
    const { sketchParams, ...rest } = sketchOf(liquidLegionsV2);
    const params = { ...sketchParams, samplingIndicatorSize: BigInt(samplingIndicatorSize) };
    return { case: 'liquidLegionsV2', value: { ...rest, sketchParams: params, maximumFrequency } };
  }
  if (reachOnlyLiquidLegionsV2) {
    return { case: 'reachOnlyLiquidLegionsV2', value: sketchOf(reachOnlyLiquidLegionsV2) };
  }
  if (honestMajorityShareShuffle) {
    const { noiseMechanism, ringModulus } = honestMajorityShareShuffle;
    const mechanism = specs.ProtocolConfig_NoiseMechanism[noiseMechanism];
    return { case: 'honestMajorityShareShuffle', value: { noiseMechanism: mechanism, ringModulus } };
  }
  return { case: 'direct', value: directOf(config.measurementType, direct) };
}

function sketchOf({ decayRate, maxSize, noiseMechanism }: LiquidLegionsConfig) {
  return {
    sketchParams: { decayRate, maxSize: BigInt(maxSize) },
    ellipticCurveId: P256,
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism[noiseMechanism],
  };
}

function directOf(type: MeasurementType | undefined, { noiseMechanisms, methodologies }: DirectProtocol) {
  const usable = type === undefined ? [] : METHODOLOGIES[type].filter((name) => methodologies.includes(name));
  return {
    noiseMechanisms: noiseMechanisms.map((name) => specs.ProtocolConfig_NoiseMechanism[name]),
    ...Object.fromEntries(usable.map((name) => [name, {}])),
  };
}

/**
 * Returns the protocols that a consumer requests, or undefined if it requests no protocol. Most clients request none.
 */
export function fromProtocolConfig(config: specs.ProtocolConfig | undefined): NativeObject | undefined {
  const names = (config?.protocols ?? []).map(({ protocol }) => protocol.case ?? '');
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, {}]));
}
