/** Makes a provider's sketch for a computation: reads people from the events and passes them to a worker thread. */
import { extname } from 'node:path';
import type { LiquidLegionsConfig } from '@measurement-exchange/contract';
import { queryOf } from '../../eventQuery.ts';
import type { Events, Watch } from '../../events.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import type { StoredFile } from '../storedFile.ts';
import { startThread } from '../thread.ts';

export interface SketchJob
  extends Pick<LiquidLegionsConfig, 'decayRate' | 'maxSize' | 'samplingIndicatorSize'> {
  file: string;
  /** The cap on a person's event count, which is 1 for a sketch without frequencies. */
  maximumFrequency: number;
  combinedPublicKey: Uint8Array;
}

export type ThreadRequest = { vids: BigInt64Array; frequencies: Uint8Array } | 'store';

interface Options extends Watch {
  file: string;
  /** Called with the progress of the encryption, which begins after everybody's events have been counted. */
  onEncrypted?: (percent: number) => void;
}

const THREAD = new URL(`./sketchThread${extname(import.meta.url)}`, import.meta.url);

/** Counts each person's events, and stores an encrypted sketch. Encryption is random, so the bytes differ each time. */
export async function storeSketch(
  verified: VerifiedRequisition,
  events: Events,
  { file, signal, onProgress, onEncrypted }: Options,
): Promise<StoredFile> {
  const job: SketchJob = { ...jobOf(verified), file };
  const thread = await startThread(THREAD, job, { signal, onProgress: onEncrypted });
  try {
    const query = { ...queryOf(verified), signal, onProgress };
    await events.allPeople(query, job.maximumFrequency, thread.addPeople);
    return (await thread.ask('store' satisfies ThreadRequest)) as StoredFile;
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
