/**
 * Starts a worker thread for work that would block the event loop. The thread responds to each message with one
 * message, and may send progress reports before the response.
 */
import { Worker } from 'node:worker_threads';
import type { Watch } from '../events.ts';

/** Thrown if the worker thread or the disk failed. Invalid event data causes other errors. */
class ShareFailed extends Error {
  override readonly name = 'ShareFailed';

  constructor(cause: Error) {
    super(`The share cannot be made: ${cause.message}`, { cause });
  }
}

export interface ThreadProgress {
  percent: number;
}

/** Starts the thread, and resolves when it is ready. If the signal is aborted, pending requests fail immediately. */
export async function startThread(file: URL, job: unknown, { signal, onProgress }: Watch) {
  signal?.throwIfAborted();
  const worker = new Worker(file, { workerData: job });
  let failure: unknown;
  let asking: PromiseWithResolvers<unknown> | undefined;
  const fail = (error: unknown) => {
    failure ??= error;
    asking?.reject(failure);
  };
  const reply = () => {
    asking = Promise.withResolvers();
    if (failure !== undefined) asking.reject(failure);
    return asking.promise;
  };
  const onAbort = () => fail(signal!.reason);
  signal?.addEventListener('abort', onAbort);
  worker.on('message', (message: unknown) => {
    if (isProgress(message)) onProgress?.(message.percent);
    else asking?.resolve(message);
  });
  worker.on('error', (error: Error) => fail(new ShareFailed(error)));
  worker.on('exit', () => fail(new ShareFailed(new Error('its thread ended.'))));
  const thread = {
    ask(request: unknown): Promise<unknown> {
      worker.postMessage(request);
      return reply();
    },
    /** Transfers the arrays to the thread instead of copying them. */
    async addPeople(vids: Uint32Array | BigInt64Array, frequencies: Uint8Array): Promise<void> {
      worker.postMessage({ vids, frequencies }, [
        vids.buffer as ArrayBuffer,
        frequencies.buffer as ArrayBuffer,
      ]);
      await reply();
    },
    async end(): Promise<void> {
      signal?.removeEventListener('abort', onAbort);
      await worker.terminate();
    },
  };
  try {
    await reply();
    return thread;
  } catch (error) {
    await thread.end();
    throw error;
  }
}

function isProgress(message: unknown): message is ThreadProgress {
  return typeof message === 'object' && message !== null && 'percent' in message;
}
