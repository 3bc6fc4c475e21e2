/** The places at which a kill can hit a computation: a stage of a duchy's role. */
import type { DuchyRole } from '@measurement-exchange/contract';
import { COMPLETE, type StageTable } from '@measurement-exchange/mpc/protocols/stages';

export interface Place {
  role: DuchyRole;
  stage: string;
  /** Whether a mill works at this stage. At other stages the computation waits. */
  isWork: boolean;
}

/**
 * Lists the places in the order of the protocols. A stage that several protocols share appears once. The aggregator's
 * last stage is left out, because the whole computation ends moments later.
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
