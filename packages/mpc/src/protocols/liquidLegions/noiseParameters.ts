/** The noise that all duchies of one computation must agree on, from the spec and the protocol's config. */
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
  /** The number of duchies, the aggregator included: each of them adds noise. */
  duchyCount: number;
  /** Privacy parameters of the reach. */
  privacyParams?: PrivacyParams;
  /**
   * Privacy parameters of the numbers that the aggregator sees on the way: how many providers have the same register.
   */
  histogramPrivacyParams?: PrivacyParams;
  /** Privacy parameters of the number of registers of one provider, which the aggregator could learn otherwise. */
  publisherPrivacyParams?: PrivacyParams;
}

export interface NoiseParameters extends LiquidLegionsParams {
  dataProviderCount: number;
  duchyCount: number;
  reachNoise: MpcNoise;
  histogramNoise: MpcNoise;
  publisherNoise: MpcNoise;
  /**
   * The least number of times that each duchy adds the register of the publishers' noise, and that of the padding.
   * Duchies add both even without noise, because providers fill up their sketches with the former.
   */
  knownRegisters: number;
  /** How many registers each duchy adds for its noise, whatever the noise is. */
  noiseRegisterCount: number;
}

/** The noise of the frequencies. */
export interface TupleNoise {
  maximumFrequency: number;
  /** The noise on the number of registers at each frequency. */
  frequencyNoise: MpcNoise;
  /** How many tuples each duchy adds for its noise, whatever the noise is. */
  noiseTupleCount: number;
}

export function checkNoise(count: number, field: string): void {
  if (count <= MAX_LEGIONS_NOISE) return;
  throw new RangeError(
    `${field} ask for ${count} registers of noise, and ${MAX_LEGIONS_NOISE} are possible: raise epsilon`,
  );
}

/** Throws a RangeError that names the field where the protocol cannot do what is asked for. */
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

/** The part of a noise spec that follows from the config of a ring. */
export function noiseSpecOf({ workers, ...config }: LiquidLegionsConfig, dataProviderCount: number) {
  const { noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams } = config;
  return {
    ...{ noiseMechanism, decayRate, maxSize, histogramPrivacyParams, publisherPrivacyParams },
    dataProviderCount,
    duchyCount: workers.length + 1,
  };
}

/**
 * Throws a RangeError where the registers of all providers and duchies, which every duchy has in memory, are too
 * many.
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
