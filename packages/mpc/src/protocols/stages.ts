/** The table of a protocol's stages. Each row says what one role waits for, computes, and sends in one stage. */
import type { ComputationState, DuchyRole } from '@measurement-exchange/contract';

/** The last stage. The duchy is done and waits for the exchange to report how the computation ended. */
export const COMPLETE = 'COMPLETE';
export const EXCHANGE = 'exchange';
/** The message that carries the result to the exchange. */
export const RESULT = 'RESULT';

/**
 * Identifies duchies by their role, or one duchy by its position in the ring relative to the sender or receiver of a
 * message.
 */
export type Place = Exclude<DuchyRole, 'WORKER'> | 'EVERY_WORKER' | 'PREVIOUS' | 'NEXT';

export interface StageRow<Run extends string = string> {
  stage: string;
  role: DuchyRole;
  /**
   * The condition that ends a waiting stage: the computation reaches `state`, or `message` has arrived from every duchy
   * in `from`. Mills do not run waiting stages.
   */
  waitsFor?: { state: ComputationState } | { message: string; from: readonly Place[] };
  run?: Run;
  /** The message that carries the output of `run`, and the receiver of the message. */
  sends?: { message: string; to: Place | typeof EXCHANGE };
  next: string;
}

/** All rows of a protocol. Every computation begins in the stage of the first row. */
export type StageTable<Run extends string = string> = readonly StageRow<Run>[];
