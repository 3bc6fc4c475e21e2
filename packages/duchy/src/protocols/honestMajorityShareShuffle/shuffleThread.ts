/** The shuffle stage in a thread of its own: with millions of registers it takes about a second of the processor. */
import { on } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ShuffleInput } from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/duchy';

/** TypeScript in the workspace, JavaScript in the packages. */
const THREAD = new URL(`./shuffleWorker${extname(import.meta.url)}`, import.meta.url);

/** The input of the thread. Uploads stay here, and the thread asks for their chunks. */
export type ThreadInput = Omit<ShuffleInput, 'shares'> & { shares: ({ seed: Uint8Array } | 'upload')[] };

/** From the thread: the next chunk of this share is needed, or the output. */
export type FromThread = { next: number } | { output: Uint8Array<ArrayBuffer> };
/** To the thread: a chunk, or undefined after the last one. */
export type ToThread = Uint8Array | undefined;

/** Whether the chunk has its buffer to itself, so that it can be transferred without a copy. */
function ownsMemory(chunk: Uint8Array): chunk is Uint8Array<ArrayBuffer> {
  return chunk.buffer instanceof ArrayBuffer && chunk.byteLength === chunk.buffer.byteLength;
}

/** Runs `shuffleStage` off the event loop. An abort ends the thread. */
export async function shuffleInThread(
  input: ShuffleInput,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  signal?.throwIfAborted();
  const uploads = input.shares.map((share) =>
    'upload' in share ? share.upload[Symbol.asyncIterator]() : undefined,
  );
  const workerData: ThreadInput = {
    ...input,
    shares: input.shares.map((share) => ('seed' in share ? share : 'upload')),
  };
  // Vectors are not on its heap: the rest needs little memory, and is collected sooner with a small young generation.
  const worker = new Worker(THREAD, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
  // An error after an abort has no other listener.
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
