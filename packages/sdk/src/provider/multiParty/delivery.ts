/** What was made for a duchy and is not taken yet: stored, and sent again until it is. */
import { join } from 'node:path';
import type { Requisition, RequisitionState } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import type { Watch } from '../events.ts';
import type { Rejections } from '../ledger/rejections.ts';
import type { Upload } from '../ledger.ts';
import { deliverUpload } from './deliver.ts';
import { counted, isGivenUp, UploadRejected } from './rejections.ts';
import type { ComputationSettings } from './settings.ts';
import { openShareFiles } from './shareFiles.ts';
import { UploadFailed } from './upload.ts';

export interface DeliveryOptions {
  client: ExchangeClient;
  clock: Clock;
  /** Of the provider. */
  name: string;
  rejections: Rejections;
}

export type Delivery = ReturnType<typeof createDelivery>;

export function createDelivery(settings: ComputationSettings, options: DeliveryOptions) {
  const { client, clock, rejections } = options;
  const { folder } = settings;
  const files = openShareFiles(join(folder, 'shares'), options.name);
  let kept: string[] | undefined;
  return {
    /** Where what a requisition asks for is stored. */
    path: files.path,
    /** Throws RefusalError where a stored upload cannot be sent: its share is gone, or its duchy never takes it. */
    async requireDeliverable(requisition: string): Promise<void> {
      const { count = 0, why = '' } = rejections.get(requisition) ?? {};
      if (isGivenUp(count))
        throw new RefusalError('UPLOAD_REJECTED', `It was rejected ${count} times: ${why}`);
      if (await files.exists(requisition)) return;
      throw new RefusalError('UPLOAD_LOST', `The share of ${requisition} is not in ${folder} any more.`);
    },
    /** Throws UploadRejected where the duchy rejects it. */
    async deliver(
      requisition: Requisition,
      upload: Upload,
      { signal, onProgress }: Watch,
    ): Promise<RequisitionState> {
      const name = requisition.name!;
      const context = { client, settings, files, clock, signal, ...(onProgress && { onProgress }) };
      try {
        const state = await deliverUpload(requisition, upload, context);
        await files.remove(name);
        rejections.remove(name);
        return state;
      } catch (error) {
        if (!(error instanceof UploadFailed) || error.kind !== 'rejected') throw error;
        const rejection = counted(rejections.get(name), error, clock.now());
        rejections.set(name, rejection);
        throw new UploadRejected(error, rejection, clock.now());
      }
    },
    /** Removes what is stored of requisitions that are not among these: shares, and rejections. */
    async keepOnly(requisitions: Iterable<string>): Promise<void> {
      const names = [...requisitions].sort();
      // Mostly they are the same as a moment ago.
      if (names.join() === kept?.join()) return;
      rejections.keepOnly(names);
      await files.removeOthers(names);
      kept = names;
    },
  };
}
