/** Makes a provider's share for a computation: reads people from the events and passes them to a worker thread. */
import { extname, resolve } from 'node:path';
import { newSealingKey, shareContext } from '@measurement-exchange/consent/sealing';
import type { SealingKey } from '@measurement-exchange/consent/sealing/pieces';
import { toBase64, type VidRange } from '@measurement-exchange/contract';
import { queryOf } from '../../eventQuery.ts';
import type { Events, Watch } from '../../events.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import { isOrdered } from '../../vidIndex.ts';
import type { StoredFile } from '../storedFile.ts';
import { startThread } from '../thread.ts';

/**
 * One of the two secret shares of a provider's event counts, stored in a file. `seed` generates the other share.
 */
export interface StoredShare extends StoredFile {
  /**
   * The secret seed that generates the other share. The other share itself is not stored. Each seed is used only once.
   * If two stored shares had the same seed, subtracting one from the other would reveal the difference between their
   * data.
   */
  seed: Uint8Array;
  registerCount: number;
  /** The number of people in the events who are not in the population. */
  outside: number;
}

export interface ShareJob {
  /** The folder with one index file per population, which stores the order of the VIDs (see vidIndex.ts). */
  folder: string;
  file: string;
  vidRanges: readonly VidRange[];
  vidSampling: { start: number; width: number };
  maximumFrequency: number;
  ringModulus: number;
}

/** A request to the thread: either add people, or store the share encrypted with this key. */
export type ThreadRequest = { vids: Uint32Array; frequencies: Uint8Array } | { sealing: SealingKey };

interface Options extends Watch {
  folder: string;
  file: string;
}

const THREAD = new URL(`./shareThread${extname(import.meta.url)}`, import.meta.url);

/**
 * For each folder and population, a promise that resolves when the order of the VIDs is on disk. The order determines
 * each VID's register. All agents in this process share these promises, because sorting millions of VIDs takes seconds.
 */
const orders = new Map<string, Promise<void>>();

/** Orders the population's VIDs, unless their order is already on disk. */
export async function prepareOrder(verified: VerifiedRequisition, options: Options): Promise<void> {
  const key = `${resolve(options.folder)} ${toBase64(verified.shareShuffle!.config.populationFingerprint)}`;
  for (let order = orders.get(key); order !== undefined; order = orders.get(key)) {
    const isOrdered = await order.then(
      () => true,
      () => false,
    );
    if (isOrdered) return;
    options.signal?.throwIfAborted();
  }
  const order = orderInThread(verified, options);
  orders.set(key, order);
  order.catch(() => orders.delete(key));
  await order;
}

async function orderInThread(verified: VerifiedRequisition, options: Options): Promise<void> {
  const { signal, onProgress } = options;
  const job = jobOf(verified, options);
  onProgress?.(0);
  if (!(await isOrdered(job.folder, job.vidRanges))) {
    const thread = await startThread(THREAD, job, { signal });
    await thread.end();
  }
  onProgress?.(100);
}

/** Counts each person's events, splits the counts into two shares with a new seed, and stores one share, encrypted. */
export async function storeShare(
  verified: VerifiedRequisition,
  events: Events,
  options: Options,
): Promise<StoredShare> {
  const job = jobOf(verified, options);
  const { signal, onProgress } = options;
  const thread = await startThread(THREAD, job, { signal });
  try {
    const query = { ...queryOf(verified), signal, onProgress };
    await events.people(query, job.maximumFrequency, thread.addPeople);
    const sealing = await newSealingKey(verified.shareShuffle!.fulfillingKeyset, shareContext(verified.name));
    return (await thread.ask({ sealing } satisfies ThreadRequest)) as StoredShare;
  } finally {
    await thread.end();
  }
}

function jobOf(verified: VerifiedRequisition, { folder, file }: Options): ShareJob {
  const { spec, vidSampling, shareShuffle } = verified;
  const { vidRanges, config } = shareShuffle!;
  const isFrequency = spec.measurementType === 'REACH_AND_FREQUENCY';
  const maximumFrequency = isFrequency ? spec.reachAndFrequency.maximumFrequency : 1;
  return { folder, file, vidRanges, vidSampling, maximumFrequency, ringModulus: config.ringModulus };
}
