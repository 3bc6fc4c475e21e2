/**
 * The thread that makes a share: reads the order of the population's VIDs, and counts each person's events in that
 * person's register. The thread then writes the share to a file, encrypted for the fulfilling duchy. The thread
 * responds to each message with one message.
 */
import { parentPort, workerData } from 'node:worker_threads';
// Import individual files instead of package indexes, because the thread loads its imports each time it starts.
import { type SealingKey, sealedPieces } from '@measurement-exchange/consent/sealing/pieces';
import {
  FrequencyVector,
  uploadChunks,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
import { newSeed } from '@measurement-exchange/mpc/shares/keystream';
import { openVidIndex } from '../../vidIndex.ts';
import { storeFile } from '../storedFile.ts';
import type { ShareJob, StoredShare, ThreadRequest } from './share.ts';

const { folder, vidRanges, vidSampling, maximumFrequency, ringModulus, file }: ShareJob = workerData;
const vector = new FrequencyVector(await openVidIndex(folder, vidRanges), vidSampling, maximumFrequency);
let outside = 0;

parentPort!.on('message', (request: ThreadRequest) => {
  parentPort!.postMessage('sealing' in request ? store(request.sealing) : take(request));
});
parentPort!.postMessage('ready');

function take({ vids, frequencies }: Extract<ThreadRequest, { vids: Uint32Array }>): 'taken' {
  for (let i = 0; i < vids.length; i++) {
    const frequency = frequencies[i]!;
    if (frequency > 0 && !vector.add(vids[i]!, frequency)) outside++;
  }
  return 'taken';
}

function store(sealing: SealingKey): StoredShare {
  const seed = newSeed();
  const chunks = uploadChunks(vector.frequencies, seed, ringModulus);
  const stored = storeFile(file, sealedPieces(sealing, chunks));
  return { ...stored, seed, registerCount: vector.frequencies.length, outside };
}
