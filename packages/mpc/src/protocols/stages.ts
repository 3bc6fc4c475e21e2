/** A protocol's stages as a table: what each role waits for, computes, and sends in each stage. */
import type { ComputationState, DuchyRole } from '@measurement-exchange/contract';

/** The last stage: the duchy is done and waits for the exchange to report how the computation ended. */
export const COMPLETE = 'COMPLETE';
export const EXCHANGE = 'exchange';
/** The message that sends the result to the exchange. */
export const RESULT = 'RESULT';

/** Refers to a duchy by its unique role, or by its position in the ring relative to the sender or receiver. */
export type Place = Exclude<DuchyRole, 'WORKER'> | 'EVERY_WORKER' | 'PREVIOUS' | 'NEXT';

export interface StageRow<Run extends string = string> {
  stage: string;
  role: DuchyRole;
  /** The stage ends when this state is reached or all these messages have arrived. Mills do not run such a stage. */
  waitsFor?: { state: ComputationState } | { message: string; from: readonly Place[] };
  /** The function that a mill runs. */
  run?: Run;
  /** The message that carries the function's output. */
  sends?: { message: string; to: Place | typeof EXCHANGE };
  next: string;
}

/** The first row is the stage in which every computation of the protocol begins. */
export type StageTable<Run extends string = string> = readonly StageRow<Run>[];
