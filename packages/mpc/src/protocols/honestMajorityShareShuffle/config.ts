/** Who takes part in Honest Majority Share Shuffle, and what it computes. */
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

/** A config has nothing to check apart from the spec: `parametersOf` compares both. */
export function violationsOf(_config: ShareShuffleConfig): Violation[] {
  return [];
}
