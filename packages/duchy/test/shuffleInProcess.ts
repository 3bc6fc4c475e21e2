/**
 * Runs the shuffle stage in this process: small computations wait for no thread to start, which takes longer than all else
 * that a worker does. Files that have a process of their own mock `shuffleThread.ts` with this one.
 */
import {
  type ShuffleInput,
  shuffleStage,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';

export const shuffleInThread = (input: ShuffleInput): Promise<Uint8Array<ArrayBuffer>> => shuffleStage(input);
