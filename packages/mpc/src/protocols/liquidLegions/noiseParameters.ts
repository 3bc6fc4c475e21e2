/** The noise that all duchies of a computation must agree on, from the spec and the protocol's config. */
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
  /** The privacy parameters for the reach. */
  privacyParams?: PrivacyParams;
  /**
   * The privacy parameters for a histogram that the aggregator sees: for each k, how many registers occur in k sketches.
   */
  histogramPrivacyParams?: PrivacyParams;
  /** The privacy parameters for the number of registers of one provider, which the aggregator could otherwise learn. */
  publisherPrivacyParams?: PrivacyParams;
}

export interface NoiseParameters extends LiquidLegionsParams {
  dataProviderCount: number;
  duchyCount: number;
  reachNoise: MpcNoise;
  histogramNoise: MpcNoise;
  publisherNoise: MpcNoise;
  /**
   * The minimum number of times that each duchy adds the publisher noise register, and the padding register. Duchies add
   * both even without noise, because providers fill up their sketches with the publisher noise register.
   */
  knownRegisters: number;
  /** The number of registers that each duchy adds, regardless of its noise. */
  noiseRegisterCount: number;
}

/** The noise on frequencies. */
export interface TupleNoise {
  maximumFrequency: number;
  /** The noise on the number of registers at each frequency. */
  frequencyNoise: MpcNoise;
  /** The number of tuples that each duchy adds, regardless of its noise. */
  noiseTupleCount: number;
}

export function checkNoise(count: number, field: string): void {
  if (count <= MAX_LEGIONS_NOISE) return;
  throw new RangeError(
    `${field} ask for ${count} registers of noise, and ${MAX_LEGIONS_NOISE} are possible: raise epsilon`,
  );
}

/** Throws a RangeError that names the field if the protocol cannot compute what the spec requests. */
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

/** Returns the part of a noise spec that comes from a ring's config. */
export function noiseSpecOf({ workers, ...config }: LiquidLegionsConfig, dataProviderCount: number) {
  const { noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams } = config;
  return {
    ...{ noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams },
    dataProviderCount,
    duchyCount: workers.length + 1,
  };
}

/** Throws a RangeError if the registers of all providers and duchies do not fit in each duchy's memory. */
export function fitting<N extends NoiseParameters & { noiseTupleCount?: number }>(parameters: N): N {
  const { dataProviderCount, maxSize, duchyCount, noiseRegisterCount, noiseTupleCount = 0 } = parameters;
  const registers = legionsRegisterCount(
    { dataProviders: dataProviderCount, maxSize },
    { duchies: duchyCount, registers: noiseRegisterCount, tuples: noiseTupleCount },
  );
  if (registers <= MAX_LEGIONS_REGISTERS) return parameters;
  throw new RangeError(`maxSize and the noise make ${registers} registers, and ${MAX_LEGIONS_REGISTERS} fit`);
}
