/** Where a computation can be when something is killed: a stage of a role. */
import type { DuchyRole } from '@measurement-exchange/contract';
import { SHARE_SHUFFLE } from '@measurement-exchange/duchy/internal/stages/shareShuffle';
import { COMPLETE } from '@measurement-exchange/duchy/internal/stages/table';

export interface Place {
  role: DuchyRole;
  stage: string;
  /** Whether a mill works there; elsewhere the computation waits. */
  isWork: boolean;
}

/** In the order of the protocol. The aggregator is done only for the moment in which it hears that all of it is. */
export const PLACES: Place[] = [
  ...SHARE_SHUFFLE.map(({ role, stage, run }) => ({ role, stage, isWork: run !== undefined })),
  ...(['FIRST_WORKER', 'SECOND_WORKER'] as const).map((role) => ({ role, stage: COMPLETE, isWork: false })),
];

export function nameOf({ role, stage }: Pick<Place, 'role' | 'stage'>): string {
  return `${role} ${stage}`;
}
