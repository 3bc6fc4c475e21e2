/** Where a computation can be when something is killed: a stage of a role. */
import type { DuchyRole } from '@measurement-exchange/contract';
import { COMPLETE, type StageTable } from '@measurement-exchange/mpc/protocols/stages';

export interface Place {
  role: DuchyRole;
  stage: string;
  /** Whether a mill works there; elsewhere the computation waits. */
  isWork: boolean;
}

/**
 * In the order of the protocols; a stage that several of them have is there once. The aggregator is done only for the moment
 * in which it hears that all of it is.
 */
export function placesOf(tables: StageTable[]): Place[] {
  const rows = tables.flat().map(({ role, stage, run }) => ({ role, stage, isWork: run !== undefined }));
  const workers = new Set(rows.map(({ role }) => role).filter((role) => role !== 'AGGREGATOR'));
  const done = [...workers].map((role) => ({ role, stage: COMPLETE, isWork: false }));
  return [...new Map([...rows, ...done].map((place) => [nameOf(place), place])).values()];
}

export function nameOf({ role, stage }: Pick<Place, 'role' | 'stage'>): string {
  return `${role} ${stage}`;
}
