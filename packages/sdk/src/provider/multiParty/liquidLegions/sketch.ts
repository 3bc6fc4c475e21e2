/** Makes a provider's sketch for a computation: counts people in the events, and leaves the rest to a thread. */
import { extname } from 'node:path';
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import { queryOf } from '../../eventQuery.ts';
import type { Events, Watch } from '../../events.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import type { StoredFile } from '../storedFile.ts';
import { startThread } from '../thread.ts';

/** The job of the thread. */
export interface SketchJob
  extends Pick<LiquidLegionsConfig, 'decayRate' | 'maxSize' | 'samplingIndicatorSize'> {
  /** The sketch that it writes. */
  file: string;
  /** 1: without frequencies. */
  maximumFrequency: number;
  combinedPublicKey: Uint8Array;
}

export type ThreadRequest = { vids: BigInt64Array; frequencies: Uint8Array } | 'store';

interface Options extends Watch {
  file: string;
  /** The progress of the encryption, which begins when all people are counted. */
  onEncrypted?: (percent: number) => void;
}

const THREAD = new URL(`./sketchThread${extname(import.meta.url)}`, import.meta.url);

/** Counts people, and stores a sketch of them, encrypted: as other bytes each time. */
export async function storeSketch(
  verified: VerifiedRequisition,
  events: Events,
  { file, signal, onProgress, onEncrypted }: Options,
): Promise<StoredFile> {
  const { maximumFrequency, ...job } = jobOf(verified);
  const watch = { signal, onProgress: onEncrypted };
  const thread = await startThread<ThreadRequest>(THREAD, { ...job, maximumFrequency, file }, watch);
  try {
    const query = { ...queryOf(verified), signal, onProgress };
    await events.allPeople(query, maximumFrequency, async (vids, frequencies) => {
      await thread.ask({ vids, frequencies }, [
        vids.buffer as ArrayBuffer,
        frequencies.buffer as ArrayBuffer,
      ]);
    });
    return (await thread.ask('store')) as StoredFile;
  } finally {
    await thread.end();
  }
}

function jobOf({ spec, liquidLegions }: VerifiedRequisition): Omit<SketchJob, 'file'> {
  const { config, combinedPublicKey } = liquidLegions!;
  const { decayRate, maxSize, samplingIndicatorSize } = config;
  const isFrequency = spec.measurementType === 'REACH_AND_FREQUENCY';
  return {
    ...{ decayRate, maxSize, combinedPublicKey },
    ...(samplingIndicatorSize !== undefined && { samplingIndicatorSize }),
    maximumFrequency: isFrequency ? spec.reachAndFrequency.maximumFrequency : 1,
  };
}
