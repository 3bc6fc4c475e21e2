/** What an agent does where duchies compute: makes its share, stores it, and brings it to the duchy that takes it. */
import { join } from 'node:path';
import { type Requisition, type RequisitionState, toBase64 } from '@measurement-exchange/contract';
import type { Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Events, Watch } from '../events.ts';
import type { Rejections } from '../ledger/rejections.ts';
import type { Upload } from '../ledger.ts';
import { RefusalError } from '../refusalError.ts';
import type { VerifiedRequisition } from '../verify.ts';
import { deliverUpload } from './deliver.ts';
import { counted, isGivenUp, UploadRejected } from './rejections.ts';
import { createDuchyTrust, type ShareShuffleSettings } from './settings.ts';
import { prepareOrder, type StoredShare, storeShare } from './share.ts';
import { openShareFiles } from './shareFiles.ts';
import { UploadFailed } from './upload.ts';
import type { ShareShuffleContext } from './verify.ts';

/** A provider's part in share-shuffle. */
export interface Participant {
  context(options: { signal?: AbortSignal }): ShareShuffleContext;
  /** What takes long and depends on the population alone. */
  prepare(verified: VerifiedRequisition, watch: Watch): Promise<void>;
  /** Counts people, and stores a share of their frequencies: another one, with another seed, each time. */
  makeShare(
    verified: VerifiedRequisition,
    events: Events,
    options: Watch & { onWarning(message: string): void },
  ): Promise<StoredShare>;
  /** Throws RefusalError where a stored upload cannot be sent: its share is gone, or its duchy never takes it. */
  requireDeliverable(requisition: string): Promise<void>;
  /** Throws UploadRejected where the duchy rejects it. */
  deliver(requisition: Requisition, upload: Upload, watch: Watch): Promise<RequisitionState>;
  /** Removes what is stored of requisitions that are not among these: shares, and rejections. */
  keepOnly(requisitions: Iterable<string>): Promise<void>;
}

/** Throws where a root of the settings is not one. */
export function createParticipant(
  settings: ShareShuffleSettings,
  options: { client: ExchangeClient; clock: Clock; name: string; rejections: Rejections },
): Participant {
  const { client, clock, name, rejections } = options;
  const duchies = createDuchyTrust(settings.duchies);
  const files = openShareFiles(join(settings.folder, 'shares'), name);
  const { populations, noiseMechanisms, folder } = settings;
  const placesOf = ({ name }: VerifiedRequisition) => ({ folder, file: files.path(name) });
  let kept: string[] | undefined;
  /** By population: its order is on the disk once the promise resolves. */
  const orders = new Map<string, Promise<void>>();
  return {
    context: (options) => ({
      duchies,
      populations,
      ...(noiseMechanisms && { noiseMechanisms }),
      fetchPopulation: (name) => client.getPopulation({ name, ...options }),
    }),
    async prepare(verified, watch) {
      const population = toBase64(verified.shareShuffle!.config.populationFingerprint);
      const order = orders.get(population) ?? prepareOrder(verified, { ...placesOf(verified), ...watch });
      orders.set(population, order);
      order.catch(() => orders.delete(population));
      await order;
    },
    async makeShare(verified, events, { onWarning, ...watch }) {
      const share = await storeShare(verified, events, { ...placesOf(verified), ...watch });
      if (share.outside > 0)
        onWarning(`${share.outside} people are not of the population, and were left out.`);
      return share;
    },
    async requireDeliverable(requisition) {
      const { count = 0, why = '' } = rejections.get(requisition) ?? {};
      if (isGivenUp(count))
        throw new RefusalError('UPLOAD_REJECTED', `It was rejected ${count} times: ${why}`);
      if (await files.exists(requisition)) return;
      throw new RefusalError('UPLOAD_LOST', `The share of ${requisition} is not in ${folder} any more.`);
    },
    async deliver(requisition, upload, { signal, onProgress }) {
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
    async keepOnly(requisitions) {
      const names = [...requisitions].sort();
      // Mostly they are the same as a moment ago.
      if (names.join() === kept?.join()) return;
      rejections.keepOnly(names);
      await files.removeOthers(names);
      kept = names;
    },
  };
}
