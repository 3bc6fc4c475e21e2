/** What duchies do in HonestMajorityShareShuffle once all data is there, under the names that they report. */
import type { DuchyRole } from './states.ts';

/** A stage of a role waits for those of every earlier step. */
export const SHARE_SHUFFLE_STEPS: readonly { step: number; role: DuchyRole; stage: string }[] = [
  { step: 1, role: 'FIRST_WORKER', stage: 'SETUP_PHASE' },
  { step: 2, role: 'SECOND_WORKER', stage: 'SETUP_PHASE' },
  { step: 3, role: 'FIRST_WORKER', stage: 'SHUFFLE_PHASE' },
  { step: 3, role: 'SECOND_WORKER', stage: 'SHUFFLE_PHASE' },
  { step: 4, role: 'AGGREGATOR', stage: 'AGGREGATION_PHASE' },
];
