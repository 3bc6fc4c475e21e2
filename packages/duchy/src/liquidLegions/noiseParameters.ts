/** The noise that all duchies of one computation must agree on, from the spec and the protocol's config. */
import type { MpcNoiseMechanism, PrivacyParams } from '@measurement-exchange/contract';
import { type LiquidLegionsParams, type MpcNoise, mpcNoise } from '@measurement-exchange/sdk/liquidLegions';

export interface NoiseSpec extends LiquidLegionsParams {
  noiseMechanism: MpcNoiseMechanism;
  dataProviderCount: number;
  /** The aggregator included: each of them adds noise. */
  duchyCount: number;
  /** Of the reach. */
  privacyParams?: PrivacyParams;
  /** Of what the aggregator sees on the way: how many providers have the same register. */
  histogramPrivacyParams?: PrivacyParams;
  /** Of what it could learn from the number of registers of one provider. */
  publisherPrivacyParams?: PrivacyParams;
}

export interface NoiseParameters extends LiquidLegionsParams {
  dataProviderCount: number;
  duchyCount: number;
  reachNoise: MpcNoise;
  histogramNoise: MpcNoise;
  publisherNoise: MpcNoise;
  /**
   * How often each duchy adds the register of the publishers' noise, and that of the padding, at least: without any noise
   * too, because providers fill up their sketches with the former.
   */
  knownRegisters: number;
  /** How many registers each duchy adds for its noise, whatever the noise is. */
  noiseRegisterCount: number;
}

/** Of one duchy: more would fill its memory, and take it hours. */
const MAX_NOISE = 2 ** 20;

export function checkNoise(count: number, field: string): void {
  if (count <= MAX_NOISE) return;
  throw new RangeError(
    `${field} ask for ${count} registers of noise, and ${MAX_NOISE} are possible: raise epsilon`,
  );
}

/** Throws a RangeError that names the field where the protocol cannot do what is asked for. */
export function noiseParameters(spec: NoiseSpec, knownRegisters: number): NoiseParameters {
  const { decayRate, maxSize, noiseMechanism: mechanism, dataProviderCount, duchyCount: workers } = spec;
  if (!(Number.isInteger(dataProviderCount) && dataProviderCount >= 1)) {
    throw new RangeError('dataProviders must not be empty');
  }
  if (!(Number.isInteger(workers) && workers >= 2)) throw new RangeError('duchies must be at least 2');
  const reachNoise = mpcNoise(mechanism, spec.privacyParams, { workers, sensitivity: 1 });
  const histogramNoise = mpcNoise(mechanism, spec.histogramPrivacyParams, { workers, sensitivity: 2 });
  const sensitivity = dataProviderCount;
  const publisherNoise = mpcNoise(mechanism, spec.publisherPrivacyParams, { workers, sensitivity });
  const noiseRegisterCount =
    2 * publisherNoise.offset +
    2 * reachNoise.offset +
    histogramNoise.offset * dataProviderCount * (dataProviderCount + 1) +
    2 * knownRegisters;
  checkNoise(noiseRegisterCount, 'privacyParams');
  return {
    ...{ decayRate, maxSize, dataProviderCount, duchyCount: workers },
    ...{ reachNoise, histogramNoise, publisherNoise, knownRegisters, noiseRegisterCount },
  };
}
