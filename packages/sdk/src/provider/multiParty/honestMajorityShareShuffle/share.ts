/** Makes a provider's share of a computation: counts people in the events, and leaves the rest to a thread. */
import { extname } from 'node:path';
import { newSealingKey, shareContext } from '@measurement-exchange/consent/sealing';
import type { SealingKey } from '@measurement-exchange/consent/sealing/pieces';
import type { VidRange } from '@measurement-exchange/contract';
import { queryOf } from '../../eventQuery.ts';
import type { Events, Watch } from '../../events.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import type { StoredFile } from '../storedFile.ts';
import { startThread } from '../thread.ts';

/** A share in a file, and what its receivers have to know. */
export interface StoredShare extends StoredFile {
  /** Expands to the other share. It is secret, and used once: two shares of one seed would tell how they differ. */
  seed: Uint8Array;
  registerCount: number;
  /** How many people of the events are not of the population. */
  outside: number;
}

/** The job of the thread. */
export interface ShareJob {
  /** With the order of each population's VIDs. */
  folder: string;
  /** The share that it writes. */
  file: string;
  vidRanges: readonly VidRange[];
  vidSampling: { start: number; width: number };
  maximumFrequency: number;
  ringModulus: number;
}

/** People, or the key under which the share of all of them is stored. */
export type ThreadRequest = { vids: Uint32Array; frequencies: Uint8Array } | { sealing: SealingKey };

interface Options extends Watch {
  folder: string;
  file: string;
}

const THREAD = new URL(`./shareThread${extname(import.meta.url)}`, import.meta.url);

/** Orders the VIDs of the population where that is not on the disk yet, which takes seconds for millions. */
export async function prepareOrder(verified: VerifiedRequisition, options: Options): Promise<void> {
  const { signal, onProgress } = options;
  onProgress?.(0);
  const thread = await startThread<ThreadRequest>(THREAD, jobOf(verified, options), { signal });
  await thread.end();
  onProgress?.(100);
}

/** Counts how often each person was reached, and stores a share of that, encrypted, with a seed of its own. */
export async function storeShare(
  verified: VerifiedRequisition,
  events: Events,
  options: Options,
): Promise<StoredShare> {
  const job = jobOf(verified, options);
  const { signal, onProgress } = options;
  const thread = await startThread<ThreadRequest>(THREAD, job, { signal });
  try {
    const query = { ...queryOf(verified), signal, onProgress };
    await events.people(query, job.maximumFrequency, async (vids, frequencies) => {
      await thread.ask({ vids, frequencies }, [
        vids.buffer as ArrayBuffer,
        frequencies.buffer as ArrayBuffer,
      ]);
    });
    const sealing = await newSealingKey(verified.shareShuffle!.fulfillingKeyset, shareContext(verified.name));
    return (await thread.ask({ sealing })) as StoredShare;
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
