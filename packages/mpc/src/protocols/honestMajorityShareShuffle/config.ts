/** The roles and registers of Honest Majority Share Shuffle, and the measurement types that it supports. */
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

/**
 * Returns no violations, because a config can be checked only together with a spec. `parametersOf` in limits.ts checks
 * both.
 */
export function violationsOf(_config: ShareShuffleConfig): Violation[] {
  return [];
}

/**
 * Returns the population that all providers must share, because each register represents one person of the population.
 */
export function populationOf({ population, populationFingerprint }: ShareShuffleConfig): CommonPopulation {
  return { name: population, fingerprint: populationFingerprint };
}

/** True, because the sample of an interval that extends past 1 continues at the start of the population. */
export const takesWrappedSamples = true;

export function registerCountOf(
  _config: ShareShuffleConfig,
  interval: VidSamplingInterval,
  populationSize: number,
): number {
  return sampledRegisters(populationSize, interval).count;
}

/** Returns no limit. `parametersOf` checks the maximum frequency together with the number of data providers. */
export function maximumFrequencyOf(_config: ShareShuffleConfig): number {
  return Number.POSITIVE_INFINITY;
}
