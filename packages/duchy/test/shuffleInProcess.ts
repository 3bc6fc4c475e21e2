/**
 * Runs the shuffle stage in this process, because starting a thread takes longer than all other work of a worker on a
 * small computation. Test files that run in a separate process mock `shuffleThread.ts` with this module. Other test
 * files share a process, so a mock in one of them would affect the others.
 */
import {
  type ShuffleInput,
  shuffleStage,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';

export const shuffleInThread = (input: ShuffleInput): Promise<Uint8Array<ArrayBuffer>> => shuffleStage(input);
