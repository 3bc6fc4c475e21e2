/** The duchies that take part in Honest Majority Share Shuffle, and the types of measurements that it computes. */
import type { ShareShuffleConfig, Violation } from '@measurement-exchange/contract';
import type { Roles } from '../protocol.ts';

export const computes = ['REACH', 'REACH_AND_FREQUENCY'] as const;

export function rolesOf({ firstWorker, secondWorker, aggregator }: ShareShuffleConfig): Roles {
  return [
    [firstWorker, 'FIRST_WORKER'],
    [secondWorker, 'SECOND_WORKER'],
    [aggregator, 'AGGREGATOR'],
  ];
}

/** Nothing in a config can be checked without the spec: `parametersOf` checks both together. */
export function violationsOf(_config: ShareShuffleConfig): Violation[] {
  return [];
}
