import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';

export interface Work {
  duchy: Duchy;
  computation: StoredComputation;
  /** Aborted when the lease is lost or the duchy stops. */
  signal: AbortSignal;
  /** Reports the progress of a long stage, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/**
 * Runs a stage, and returns the output to send, if any. If the stage runs again after a crash, it returns the same
 * values with the same noise.
 */
export type StageFunction = (work: Work) => Promise<Uint8Array | undefined>;
