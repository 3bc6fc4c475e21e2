/** Runs the shuffle stage in a separate thread, because millions of registers take about a second of CPU time. */
import { on } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ShuffleInput } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';

/** The thread's source file: TypeScript in the workspace, JavaScript in published packages. */
const THREAD = new URL(`./shuffleWorker${extname(import.meta.url)}`, import.meta.url);

/** The thread's input. Uploads stay in the main thread, and the worker thread requests them chunk by chunk. */
export type ThreadInput = Omit<ShuffleInput, 'shares'> & { shares: ({ seed: Uint8Array } | 'upload')[] };

/** A message from the thread: either the index of a share whose next chunk the thread needs, or the final output. */
export type FromThread = { next: number } | { output: Uint8Array<ArrayBuffer> };
/** A message to the thread: the next chunk, or undefined after the last chunk. */
export type ToThread = Uint8Array | undefined;

/**
 * Returns whether the chunk fills its entire buffer. Such a buffer can be transferred to the thread without copying.
 */
function ownsMemory(chunk: Uint8Array): chunk is Uint8Array<ArrayBuffer> {
  return chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength;
}

/** Runs `shuffleStage` without blocking the event loop. An abort terminates the thread. */
export async function shuffleInThread(input: ShuffleInput, signal?: AbortSignal): Promise<Uint8Array> {
  signal?.throwIfAborted();
  const uploads = input.shares.map((share) =>
    'upload' in share ? share.upload[Symbol.asyncIterator]() : undefined,
  );
  const workerData: ThreadInput = {
    ...input,
    shares: input.shares.map((share) => ('seed' in share ? share : 'upload')),
  };
  // Limit V8's young generation, so that short-lived objects are freed sooner. The limit can be small, because the data
  // of typed arrays is stored outside V8's heap.
  const worker = new Worker(THREAD, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
  // Without this listener, an error after an abort would crash the process.
  worker.on('error', () => {});
  try {
    for await (const [message] of on(worker, 'message', { signal, close: ['exit'] })) {
      const asked: FromThread = message;
      if ('output' in asked) return asked.output;
      const { value, done } = await uploads[asked.next]!.next();
      const chunk: ToThread = done ? undefined : value;
      worker.postMessage(chunk, chunk && ownsMemory(chunk) ? [chunk.buffer] : []);
    }
    throw new Error('the thread of the shuffle stage ended without an output');
  } finally {
    await worker.terminate();
    await Promise.all(uploads.map((upload) => upload?.return?.()));
  }
}
