/** The code of the thread that `shuffleInThread` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import { shuffleStage } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';
import type { FromThread, ThreadInput, ToThread } from './shuffleThread.ts';

const port = parentPort!;
let received: (chunk: ToThread) => void = () => {};
port.on('message', (chunk: ToThread) => received(chunk));

function next(share: number): Promise<ToThread> {
  const chunk = new Promise<ToThread>((resolve) => {
    received = resolve;
  });
  port.postMessage({ next: share } satisfies FromThread);
  return chunk;
}

/** Yields the chunks of an upload. Requests the next chunk while the current one is being processed. */
async function* chunksOf(share: number): AsyncGenerator<Uint8Array> {
  let reading = next(share);
  for (;;) {
    const chunk = await reading;
    if (chunk === undefined) return;
    reading = next(share);
    yield chunk;
  }
}

const input: ThreadInput = workerData;
const shares = input.shares.map((share, i) => (share === 'upload' ? { upload: chunksOf(i) } : share));
const output = await shuffleStage({ ...input, shares });
port.postMessage({ output } satisfies FromThread, [output.buffer]);
