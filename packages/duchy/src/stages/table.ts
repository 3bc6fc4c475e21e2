/** A protocol is a table: what each role waits for, computes and sends, stage by stage. */
import type { ComputationState, DuchyRole } from '@measurement-exchange/contract';
import type { Duchy } from '../context.ts';
import type { StoredComputation } from '../database/index.ts';
import type { Place } from './places.ts';

/** The last stage: a duchy has done its part, and waits until the exchange says how the computation ended. */
export const COMPLETE = 'COMPLETE';
export const EXCHANGE = 'exchange';

export interface StageRow {
  stage: string;
  role: DuchyRole;
  /** No mill takes a stage that waits; it is over when all of this is there. */
  waitsFor?: { state: ComputationState } | { message: string; from: readonly Place[] };
  /** What a mill does; what it returns is sent. */
  run?: StageFunction;
  sends?: { message: string; to: Place | typeof EXCHANGE };
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
  /** How far a long stage is, from 0 to 1. */
  onProgress: (fraction: number) => void;
}
