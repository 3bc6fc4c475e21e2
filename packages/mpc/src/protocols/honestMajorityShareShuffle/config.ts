/** The roles and registers of Honest Majority Share Shuffle, and the types of measurements that it computes. */
import type { ShareShuffleConfig, Violation } from '@measurement-exchange/contract';
import { sampledRegisters } from '@measurement-exchange/contract/shareShuffle';
import type { VidSamplingInterval } from '../../privacy/vidSampling.ts';
import type { CommonPopulation, Roles } from '../protocol.ts';

export const computes = ['REACH', 'REACH_AND_FREQUENCY'] as const;

export function rolesOf({ firstWorker, secondWorker, aggregator }: ShareShuffleConfig): Roles {
  return [
    [firstWorker, 'FIRST_WORKER'],
    [secondWorker, 'SECOND_WORKER'],
    [aggregator, 'AGGREGATOR'],
  ];
}

/** A config cannot be checked without the spec; `parametersOf` checks both together. */
export function violationsOf(_config: ShareShuffleConfig): Violation[] {
  return [];
}

/** Each register represents a person of the population. */
export function populationOf({ population, populationFingerprint }: ShareShuffleConfig): CommonPopulation {
  return { name: population, fingerprint: populationFingerprint };
}

/** A sample may wrap around the end of the population's order. */
export const takesWrappedSamples = true;

export function registerCountOf(
  _config: ShareShuffleConfig,
  interval: VidSamplingInterval,
  populationSize: number,
): number {
  return sampledRegisters(populationSize, interval).count;
}

/** `parametersOf` checks the maximum frequency together with the number of data providers. */
export function maximumFrequencyOf(_config: ShareShuffleConfig): number {
  return Number.POSITIVE_INFINITY;
}
