/** A protocol is a table: what each role waits for, computes and sends, stage by stage. */
import type { Computation, ComputationState, DuchyRole } from '@measurement-exchange/contract';
import type { Duchy } from '../context.ts';
import type { StoredComputation } from '../database/index.ts';
import { PermanentError } from '../errors.ts';

/** The last stage: a duchy has done its part, and waits until the exchange says how the computation ended. */
export const COMPLETE = 'COMPLETE';
export const EXCHANGE = 'exchange';

export interface StageRow {
  stage: string;
  role: DuchyRole;
  /** No mill takes a stage that waits; it is over when all of this is there. */
  waitsFor?: { state: ComputationState } | { message: string; from: readonly DuchyRole[] };
  /** What a mill does; what it returns is sent. */
  run?: StageFunction;
  sends?: { message: string; to: DuchyRole | typeof EXCHANGE };
  next: string;
}

export type ProtocolTable = readonly StageRow[];

/** Returns what is sent, or nothing; repeated after a crash, it returns the same figures with the same noise. */
export type StageFunction = (work: Work) => Promise<Uint8Array | undefined>;

export interface Work {
  duchy: Duchy;
  computation: StoredComputation;
  /** Aborted when the lease is lost or the duchy stops. */
  signal: AbortSignal;
}

/** The duchy that has a role in a computation. */
export function duchyWith(role: DuchyRole, { participants }: Pick<Computation, 'participants'>): string {
  const found = Object.entries(participants).find(([, participant]) => participant.role === role);
  if (found === undefined) throw new PermanentError(`The computation has no ${role}.`);
  return found[0];
}
