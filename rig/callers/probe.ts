/**
 * The healthy client of H14 (see slow.ts), which measures its own response times. It runs in a separate thread, so that
 * the hostile clients in the main thread do not delay it.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Line } from './http.ts';

export interface Probed {
  /** Milliseconds of each request since the last call of `look`. */
  times: number[];
  /** The responses other than 200. */
  failures: string[];
}

interface Errand {
  url: string;
  target: string;
  token: string;
}

const EVERY_MS = 20;

/** Sends requests continuously on one keep-alive connection. */
export class Probe {
  private readonly worker: Worker;

  constructor(errand: Errand) {
    this.worker = new Worker(fileURLToPath(import.meta.url), { workerData: errand });
  }

  /** Returns what the probe saw since the last call; the first call waits until the probe has begun. */
  async look(): Promise<Probed> {
    this.worker.postMessage('look');
    const [probed] = await once(this.worker, 'message');
    return probed;
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

async function probe({ url, target, token }: Errand): Promise<void> {
  const line = new Line(url, 1);
  let probed: Probed = { times: [], failures: [] };
  // Open the connection with a request that is not measured.
  await line.send({ method: 'GET', target, token });
  parentPort!.on('message', () => {
    parentPort!.postMessage(probed);
    probed = { times: [], failures: [] };
  });
  for (;;) {
    const began = performance.now();
    const { status, text } = await line.send({ method: 'GET', target, token });
    probed.times.push(performance.now() - began);
    if (status !== 200) probed.failures.push(`${status}: ${text.slice(0, 200)}`);
    await sleep(EVERY_MS);
  }
}

if (!isMainThread && (workerData as Errand | null)?.target !== undefined) await probe(workerData);
