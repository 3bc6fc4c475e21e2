/** Defines the settings of HonestMajorityShareShuffle, and says why a spec cannot use the protocol. */
import {
  MAX_NOISE_REGISTERS,
  MAX_SHUFFLED,
  type MpcNoiseMechanism,
  mpcNoiseOffset,
  noiseRegisterCount,
  type PrivacyParams,
  sampledRegisters,
  toBase64,
} from '@measurement-exchange/contract';
import { type PopulationRecord, populationName } from './population.ts';
import type { StoredShareShuffleConfig } from './protocolConfig.ts';
import type { CountingSpec, Reason } from './protocolReasons.ts';

export interface ShareShuffleSetting {
  /** A resource name such as `duchies/x`. The two workers and the aggregator must be different duchies. */
  firstWorker: string;
  secondWorker: string;
  aggregator: string;
  noiseMechanism: MpcNoiseMechanism;
  reachRingModulus: number;
  reachAndFrequencyRingModulus: number;
}

export type Population = Pick<PopulationRecord, 'id' | 'size' | 'fingerprint'>;

export function shareShuffleConfig(
  spec: CountingSpec,
  setting: ShareShuffleSetting,
  { id, fingerprint }: Population,
): StoredShareShuffleConfig {
  const { firstWorker, secondWorker, aggregator, noiseMechanism } = setting;
  return {
    ...{ firstWorker, secondWorker, aggregator, noiseMechanism },
    ringModulus: ringModulusOf(spec, setting),
    population: populationName(id),
    populationFingerprint: toBase64(fingerprint),
  };
}

/**
 * Returns a reason if the ring modulus is too small for the number of providers or for the largest possible sum of a
 * person's frequencies.
 */
export function shareShuffleReasons(
  spec: CountingSpec,
  setting: ShareShuffleSetting,
  providers: number,
): Reason[] {
  const modulus = ringModulusOf(spec, setting);
  if (spec.measurementType === 'REACH') {
    if (providers < modulus) return [];
    const reason = `there are ${providers} data providers, and it takes at most ${modulus - 1}`;
    return [{ field: 'dataProviders', reason }];
  }
  if (spec.reachAndFrequency.maximumFrequency * providers + 1 < modulus) return [];
  const reason = `maximumFrequency, times ${providers} data providers, must be below ${modulus - 1}`;
  return [{ field: 'measurementSpec.message.reachAndFrequency.maximumFrequency', reason }];
}

/** Returns a reason if the sample would be empty, or if the sample or the noise would be too large for the duchies. */
export function shuffledRegisterReasons(
  spec: CountingSpec,
  setting: ShareShuffleSetting,
  people: number,
): Reason[] {
  const noise = noiseRegistersOf(spec, setting);
  if (noise > MAX_NOISE_REGISTERS) {
    const reason = `its noise would take ${noise} registers, and ${MAX_NOISE_REGISTERS} are possible: raise epsilon`;
    return [{ field: 'measurementSpec.message', reason }];
  }
  const { count: sample } = sampledRegisters(people, spec.vidSamplingInterval!);
  const field = 'measurementSpec.message.vidSamplingInterval.width';
  if (sample === 0) {
    const reason = `the interval has nobody of the ${people} people of the population: widen it`;
    return [{ field, reason }];
  }
  if (sample + 2 * noise <= MAX_SHUFFLED) return [];
  const reason = `the sample has ${sample} people, and about ${MAX_SHUFFLED} are possible: narrow the interval`;
  return [{ field, reason }];
}

function noiseRegistersOf(spec: CountingSpec, setting: ShareShuffleSetting): number {
  if (setting.noiseMechanism === 'NONE') return 0;
  const modulus = ringModulusOf(spec, setting);
  const offset = (params: PrivacyParams) => mpcNoiseOffset(setting.noiseMechanism, params);
  if (spec.measurementType === 'REACH') {
    return noiseRegisterCount(modulus, offset(spec.reach.privacyParams!), 0);
  }
  const { reachPrivacyParams, frequencyPrivacyParams } = spec.reachAndFrequency;
  return noiseRegisterCount(modulus, offset(reachPrivacyParams!), offset(frequencyPrivacyParams!));
}

function ringModulusOf({ measurementType }: CountingSpec, setting: ShareShuffleSetting): number {
  return measurementType === 'REACH' ? setting.reachRingModulus : setting.reachAndFrequencyRingModulus;
}
