/** Computes the noise that all duchies of a computation must agree on, from the spec and the protocol's config. */
import {
  knownRegisterCount,
  type LiquidLegionsConfig,
  type LiquidLegionsProtocol,
  legionsNoiseRegisterCount,
  legionsNoiseShapes,
  legionsRegisterCount,
  MAX_LEGIONS_NOISE,
  MAX_LEGIONS_REGISTERS,
  type MpcNoiseMechanism,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { type MpcNoise, mpcNoise } from '../../privacy/mpcNoise.ts';
import type { LiquidLegionsParams } from '../../sketches/sketch.ts';

export interface NoiseSpec extends LiquidLegionsParams {
  noiseMechanism: MpcNoiseMechanism;
  dataProviderCount: number;
  /** The number of duchies that add noise, including the aggregator. */
  duchyCount: number;
  privacyParams?: PrivacyParams;
  /**
   * The privacy parameters for a histogram that the aggregator sees: the number of registers that occur in k sketches,
   * for each k.
   */
  histogramPrivacyParams?: PrivacyParams;
  /**
   * The privacy parameters for the number of registers of one provider. Without noise, the aggregator could learn this
   * number.
   */
  publisherPrivacyParams?: PrivacyParams;
}

export interface NoiseParameters extends LiquidLegionsParams {
  dataProviderCount: number;
  duchyCount: number;
  reachNoise: MpcNoise;
  histogramNoise: MpcNoise;
  publisherNoise: MpcNoise;
  /**
   * Each duchy adds at least this many copies of the publisher noise register and of the padding register, even without
   * noise. For reach, the aggregator subtracts both registers from the number of distinct registers. For frequencies,
   * the aggregator recognizes both registers, because each has more copies than there are providers.
   */
  knownRegisters: number;
  /** The number of noise registers that each duchy adds, regardless of the noise that it draws. */
  noiseRegisterCount: number;
}

export interface TupleNoise {
  maximumFrequency: number;
  frequencyNoise: MpcNoise;
  /** The number of noise tuples that each duchy adds, regardless of the noise that it draws. */
  noiseTupleCount: number;
}

export function checkNoise(count: number, field: string): void {
  if (count <= MAX_LEGIONS_NOISE) return;
  throw new RangeError(
    `${field} ask for ${count} registers of noise, and ${MAX_LEGIONS_NOISE} are possible: raise epsilon`,
  );
}

/** Computes the parameters. Throws a RangeError that names the field if the protocol cannot fulfill the spec. */
export function noiseParameters(spec: NoiseSpec, protocol: LiquidLegionsProtocol): NoiseParameters {
  const { decayRate, maxSize, noiseMechanism: mechanism, dataProviderCount, duchyCount } = spec;
  if (!(Number.isInteger(dataProviderCount) && dataProviderCount >= 1)) {
    throw new RangeError('dataProviders must not be empty');
  }
  if (!(Number.isInteger(duchyCount) && duchyCount >= 2)) throw new RangeError('duchies must be at least 2');
  const shapes = legionsNoiseShapes(dataProviderCount, duchyCount);
  const reachNoise = mpcNoise(mechanism, spec.privacyParams, shapes.reach);
  const histogramNoise = mpcNoise(mechanism, spec.histogramPrivacyParams, shapes.histogram);
  const publisherNoise = mpcNoise(mechanism, spec.publisherPrivacyParams, shapes.publisher);
  const knownRegisters = knownRegisterCount(protocol, dataProviderCount);
  const noiseRegisterCount = legionsNoiseRegisterCount(
    { reach: reachNoise.offset, histogram: histogramNoise.offset, publisher: publisherNoise.offset },
    dataProviderCount,
    knownRegisters,
  );
  checkNoise(noiseRegisterCount, 'privacyParams');
  return {
    ...{ decayRate, maxSize, dataProviderCount, duchyCount },
    ...{ reachNoise, histogramNoise, publisherNoise, knownRegisters, noiseRegisterCount },
  };
}

export function noiseSpecOf({ workers, ...config }: LiquidLegionsConfig, dataProviderCount: number) {
  const { noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams } = config;
  return {
    ...{ noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams },
    dataProviderCount,
    duchyCount: workers.length + 1,
  };
}

/**
 * Returns the parameters. Throws a RangeError if the registers of all providers and duchies do not fit in a duchy's
 * memory.
 */
export function fitting<N extends NoiseParameters & { noiseTupleCount?: number }>(parameters: N): N {
  const { dataProviderCount, maxSize, duchyCount, noiseRegisterCount, noiseTupleCount = 0 } = parameters;
  const registers = legionsRegisterCount(
    { dataProviders: dataProviderCount, maxSize },
    { duchies: duchyCount, registers: noiseRegisterCount, tuples: noiseTupleCount },
  );
  if (registers <= MAX_LEGIONS_REGISTERS) return parameters;
  throw new RangeError(`maxSize and the noise make ${registers} registers, and ${MAX_LEGIONS_REGISTERS} fit`);
}
