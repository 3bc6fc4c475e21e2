/** A protocol is a table: what each role waits for, computes and sends, stage by stage. */
import type { ComputationState, DuchyRole } from '@measurement-exchange/contract';

/** The last stage: the duchy has done its part and waits for the exchange to report how the computation ended. */
export const COMPLETE = 'COMPLETE';
export const EXCHANGE = 'exchange';

/** A duchy by its unique role, or by its position in the ring: every worker, the previous duchy, the next duchy. */
export type Place = Exclude<DuchyRole, 'WORKER'> | 'EVERY_WORKER' | 'PREVIOUS' | 'NEXT';

export interface StageRow {
  stage: string;
  role: DuchyRole;
  /** The stage is over when all of this has arrived; mills do not take it. */
  waitsFor?: { state: ComputationState } | { message: string; from: readonly Place[] };
  /** The function of `stages/` that a mill runs. */
  run?: string;
  /** The message that carries the output of the function. */
  sends?: { message: string; to: Place | typeof EXCHANGE };
  next: string;
}

export type ProtocolTable = readonly StageRow[];

/** The functions that a table names. */
export type StageNames<Table extends ProtocolTable> = Extract<Table[number], { run: string }>['run'];
