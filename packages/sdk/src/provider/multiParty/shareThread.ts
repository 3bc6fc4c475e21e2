/**
 * The thread in which a share is made: it knows the order of the population, counts people into registers, and writes the
 * share to a file. It answers each message with one of its own.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
// Not the index of the folder: what a thread loads, it loads each time it starts.
import { FrequencyVector, uploadChunks } from '../shareShuffle/frequencyVector.ts';
import { newSeed } from '../shareShuffle/keystream.ts';
import { openVidIndex } from '../shareShuffle/vidIndex.ts';
import type { ShareJob, StoredShare, ThreadRequest } from './share.ts';

const { folder, vidRanges, vidSampling, maximumFrequency, ringModulus, file }: ShareJob = workerData;
const vector = new FrequencyVector(await openVidIndex(folder, vidRanges), vidSampling, maximumFrequency);
let outside = 0;

parentPort!.on('message', (request: ThreadRequest) => {
  parentPort!.postMessage(request === 'store' ? store() : take(request));
});
parentPort!.postMessage('ready');

function take({ vids, frequencies }: Exclude<ThreadRequest, 'store'>): 'taken' {
  for (let i = 0; i < vids.length; i++) {
    const frequency = frequencies[i]!;
    if (frequency > 0 && !vector.add(vids[i]!, frequency)) outside++;
  }
  return 'taken';
}

/** The file appears under its name when all of it is on the disk. */
function store(): StoredShare {
  const seed = newSeed();
  const hash = createHash('sha256');
  const part = `${file}.part`;
  const descriptor = openSync(part, 'w', 0o600);
  let length = 0;
  try {
    for (const chunk of uploadChunks(vector.frequencies, seed, ringModulus)) {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
      length += chunk.length;
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(part, file);
  const directory = openSync(dirname(file), 'r');
  fsyncSync(directory);
  closeSync(directory);
  const sha256 = new Uint8Array(hash.digest());
  return { seed, sha256, length, registerCount: vector.frequencies.length, outside };
}
