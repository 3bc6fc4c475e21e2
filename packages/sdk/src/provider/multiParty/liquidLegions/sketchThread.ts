/**
 * The thread that makes a sketch: adds people to registers, encrypts the registers, and writes them to a file. The
 * thread responds to each message with one message. During encryption, the thread sends progress reports before the
 * response.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Curve, ElGamalPublicKey } from '@measurement-exchange/mpc/elGamal';
import { secureRandom } from '@measurement-exchange/mpc/privacy/random';
import { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import {
  FREQUENCY_REGISTER_BYTES,
  REACH_REGISTER_BYTES,
  SketchEncrypter,
} from '@measurement-exchange/mpc/sketches/encryptSketch';
import { type StoredFile, storeFile } from '../storedFile.ts';
import type { ThreadProgress } from '../thread.ts';
import type { SketchJob, ThreadRequest } from './sketch.ts';

const { decayRate, maxSize, samplingIndicatorSize, maximumFrequency, combinedPublicKey, file }: SketchJob =
  workerData;
const params = { decayRate, maxSize };
const sketch =
  samplingIndicatorSize === undefined
    ? new ReachSketch(params)
    : new FrequencySketch({ ...params, samplingIndicatorSize });

parentPort!.on('message', (request: ThreadRequest) => {
  parentPort!.postMessage(request === 'store' ? store() : take(request));
});
parentPort!.postMessage('ready');

function take({ vids, frequencies }: Exclude<ThreadRequest, 'store'>): 'taken' {
  for (let i = 0; i < vids.length; i++) {
    const frequency = frequencies[i]!;
    if (frequency === 0) continue;
    const vid = smallest(vids[i]!);
    if (sketch instanceof ReachSketch) sketch.add(vid);
    else sketch.add(vid, frequency);
  }
  return 'taken';
}

/** Converts a VID to a number if it fits in 32 bits, because hashing a number is faster than hashing a bigint. */
function smallest(vid: bigint): number | bigint {
  return vid >= 0n && vid <= 0xffffffffn ? Number(vid) : vid;
}

function store(): StoredFile {
  const curve = new Curve();
  const encrypter = new SketchEncrypter(curve, new ElGamalPublicKey(curve, combinedPublicKey), secureRandom);
  return sketch instanceof ReachSketch
    ? storeFile(file, watched(encrypter.reach(sketch), REACH_REGISTER_BYTES))
    : storeFile(file, watched(encrypter.frequency(sketch, maximumFrequency), FREQUENCY_REGISTER_BYTES));
}

function* watched(chunks: Iterable<Uint8Array>, registerBytes: number): Generator<Uint8Array> {
  let done = 0;
  for (const chunk of chunks) {
    yield chunk;
    done += chunk.length / registerBytes;
    parentPort!.postMessage({ percent: (100 * done) / maxSize } satisfies ThreadProgress);
  }
}
