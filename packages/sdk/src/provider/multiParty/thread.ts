/** A thread that does what would hold the event loop: it answers each message with one of its own. */
import { Worker } from 'node:worker_threads';
import type { Watch } from '../events.ts';

/** The thread or the disk failed; the events are not at fault. */
class ShareFailed extends Error {
  override readonly name = 'ShareFailed';

  constructor(cause: Error) {
    super(`The share cannot be made: ${cause.message}`, { cause });
  }
}

/** The progress that a thread reports before its answer. */
export interface ThreadProgress {
  percent: number;
}

export interface Thread<Request> {
  ask(request: Request, transfer?: ArrayBuffer[]): Promise<unknown>;
  end(): Promise<void>;
}

/** A thread that is ready. Aborting ends it, whatever it does. */
export async function startThread<Request>(
  file: URL,
  job: unknown,
  { signal, onProgress }: Watch,
): Promise<Thread<Request>> {
  signal?.throwIfAborted();
  const worker = new Worker(file, { workerData: job });
  let failure: unknown;
  let asking: { resolve(reply: unknown): void; reject(error: unknown): void } | undefined;
  const fail = (error: unknown) => {
    failure ??= error;
    asking?.reject(failure);
  };
  const reply = () =>
    new Promise<unknown>((resolve, reject) => {
      asking = { resolve, reject };
      if (failure !== undefined) reject(failure);
    });
  const onAbort = () => fail(signal!.reason);
  signal?.addEventListener('abort', onAbort);
  worker.on('message', (message: unknown) => {
    if (isProgress(message)) onProgress?.(message.percent);
    else asking?.resolve(message);
  });
  worker.on('error', (error: Error) => fail(new ShareFailed(error)));
  worker.on('exit', () => fail(new ShareFailed(new Error('its thread ended.'))));
  const thread: Thread<Request> = {
    ask(request, transfer = []) {
      worker.postMessage(request, transfer);
      return reply();
    },
    async end() {
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
