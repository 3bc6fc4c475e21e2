/** The protocols that a duchy can compute. To add one, add a file in `protocols/` and a line here. */
import type { MpcProtocol, MpcStage } from '@measurement-exchange/mpc/protocols';
import { rowOf } from './computations/progress.ts';
import { hasMovingComputation, type Queryable, type StoredComputation } from './database/index.ts';
import { HONEST_MAJORITY_SHARE_SHUFFLE } from './protocols/honestMajorityShareShuffle.ts';
import { POOL } from './protocols/liquidLegions/pool.ts';
import { LIQUID_LEGIONS_V2 } from './protocols/liquidLegionsV2.ts';
import type { DuchyProtocol, UploadRules } from './protocols/protocol.ts';
import { REACH_ONLY_LIQUID_LEGIONS_V2 } from './protocols/reachOnlyLiquidLegionsV2.ts';
import type { StageFunction, Work } from './stages/work.ts';

const PROTOCOLS: { [P in MpcProtocol]: DuchyProtocol<MpcStage<P>> } = {
  honestMajorityShareShuffle: HONEST_MAJORITY_SHARE_SHUFFLE,
  reachOnlyLiquidLegionsV2: REACH_ONLY_LIQUID_LEGIONS_V2,
  liquidLegionsV2: LIQUID_LEGIONS_V2,
};

/** The protocols whose stages run in the thread pool. */
const POOLED: MpcProtocol[] = ['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'];

export function runStage(work: Work): Promise<Uint8Array | undefined> {
  const stages: Readonly<Record<string, StageFunction>> = PROTOCOLS[work.computation.protocol].stages;
  return stages[rowOf(work.computation)!.run!]!(work);
}

export function uploadRules(protocol: MpcProtocol): UploadRules {
  return PROTOCOLS[protocol].upload;
}

/**
 * An allowance in bytes for what `messageSize` does not count: the header of the encryption, and the message's small
 * fields.
 */
const ENVELOPE_BYTES = 64 * 1024;
/** An upper bound on the ratio of encrypted size to plain size, apart from the header of the encryption. */
const ENCRYPTION = 1.02;

export function largestMessage(computation: StoredComputation, message: string, sender: string): number {
  const { most } = PROTOCOLS[computation.protocol].messageSize(computation, message, sender);
  return Math.ceil(most * ENCRYPTION) + ENVELOPE_BYTES;
}

/**
 * Keeps idle threads alive while a computation may need them soon. Call the returned function to let them end again.
 */
export function keepThreads(db: Queryable): () => void {
  return POOL.keepWhile(() => hasMovingComputation(db, POOLED));
}
