/** Sends uploads to their duchies. Each upload stays in a file, and is sent again until its duchy has stored it. */
import { join } from 'node:path';
import type { Duchy, Requisition, RequisitionState } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import { RefusalError } from '../../refusals/refusalError.ts';
import type { Watch } from '../events.ts';
import type { Rejections } from '../ledger/rejections.ts';
import type { Upload } from '../ledger/responses.ts';
import type { ComputationSettings } from '../verify/duchySettings.ts';
import { counted, isGivenUp, UploadRejected } from './rejections.ts';
import { openShareFiles, type ShareFiles } from './shareFiles.ts';
import { sendUpload, UploadFailed, uploadUrl } from './upload.ts';

/** The number of consecutive transient failures after which the agent continues with other requisitions. */
const MAX_ATTEMPTS = 3;
const TIMEOUT_SECONDS = 60;
/**
 * The longest wait that the agent accepts from a duchy. If the duchy asks for more, the agent continues with other
 * requisitions.
 */
const MAX_WAIT_SECONDS = 10;

export interface UploadContext {
  client: ExchangeClient;
  clock: Clock;
  name: string;
  rejections: Rejections;
}

export class PendingUploads {
  private readonly settings: ComputationSettings;
  private readonly context: UploadContext;
  private readonly files: ShareFiles;
  private kept: string[] | undefined;

  constructor(settings: ComputationSettings, context: UploadContext) {
    this.settings = settings;
    this.context = context;
    this.files = openShareFiles(join(settings.folder, 'shares'), context.name);
  }

  path(requisition: string): string {
    return this.files.path(requisition);
  }

  /**
   * Throws RefusalError if a stored upload can no longer be sent: its file is gone, or its duchy rejected it too often.
   */
  async requireUploadable(requisition: string): Promise<void> {
    const { count = 0, why = '' } = this.context.rejections.get(requisition) ?? {};
    if (isGivenUp(count)) {
      throw new RefusalError('UPLOAD_REJECTED', `It was rejected ${count} times: ${why}`);
    }
    if (await this.files.exists(requisition)) return;
    const { folder } = this.settings;
    throw new RefusalError('UPLOAD_LOST', `The share of ${requisition} is no longer in ${folder}.`);
  }

  /**
   * Sends a stored upload to its duchy, which then reports the upload to the exchange. Resolves to the requisition's
   * new state. Throws UploadRejected if the duchy rejected the upload. Throws a different error if the requisition
   * stays open for any other reason.
   */
  async upload(requisition: Requisition, upload: Upload, watch: Watch): Promise<RequisitionState> {
    const { clock, rejections } = this.context;
    const name = requisition.name!;
    try {
      const state = await this.sendUntilStored(requisition, upload, watch);
      await this.files.remove(name);
      rejections.remove(name);
      return state;
    } catch (error) {
      if (!(error instanceof UploadFailed) || error.kind !== 'rejected') throw error;
      const rejection = counted(rejections.get(name), error, clock.now());
      rejections.set(name, rejection);
      throw new UploadRejected(error, rejection, clock.now());
    }
  }

  /** Removes the files and rejections of all requisitions except the given ones. */
  async keepOnly(requisitions: Iterable<string>): Promise<void> {
    const names = [...requisitions].sort();
    // Usually the requisitions are the same as in the last call. In that case, there is nothing to remove.
    if (names.join() === this.kept?.join()) return;
    this.context.rejections.keepOnly(names);
    await this.files.removeOthers(names);
    this.kept = names;
  }

  /** Retries transient failures with the same bytes, which is safe because a duchy stores an upload only once. */
  private async sendUntilStored(
    requisition: Requisition,
    { duchy, fulfillment }: Upload,
    { signal, onProgress }: Watch,
  ): Promise<RequisitionState> {
    const { client, clock } = this.context;
    const name = requisition.name!;
    const stateNow = async () => (await client.getRequisition({ name, signal })).state;
    if (requisition.state !== 'UNFULFILLED') return requisition.state;

    const { uploadTimeoutSeconds = TIMEOUT_SECONDS, allowHttp } = this.settings;
    const { endpoint, isPinned } = await this.endpointOf(duchy, signal);
    const target = {
      url: uploadUrl(endpoint, name, { allowHttp }),
      allowPrivate: isPinned || allowHttp === true,
      timeoutMs: 1000 * uploadTimeoutSeconds,
    };
    for (let attempt = 1; ; attempt++) {
      let waitSeconds = 0;
      try {
        await sendUpload({ ...target, fulfillment, file: this.files.path(name), signal, onProgress });
        const state = await stateNow();
        if (state !== 'UNFULFILLED') return state;
        throw new Error(`${duchy} stored the upload, but has not reported it to the exchange yet.`);
      } catch (error) {
        if (!(error instanceof UploadFailed)) throw error;
        // The duchy may have stored the upload in an attempt whose response was lost.
        const state = await stateNow();
        if (state !== 'UNFULFILLED') return state;
        waitSeconds = error.retryAfterSeconds ?? 0;
        if (error.kind !== 'transient' || attempt === MAX_ATTEMPTS || waitSeconds > MAX_WAIT_SECONDS) {
          throw error;
        }
      }
      await clock.sleep(1000 * waitSeconds + backoffMs(attempt), signal);
    }
  }

  private async endpointOf(duchy: string, signal: AbortSignal | undefined) {
    const { duchies } = this.settings;
    const configured = Object.hasOwn(duchies, duchy) ? duchies[duchy]!.endpoint : undefined;
    if (configured !== undefined) return { endpoint: configured, isPinned: true };
    const { endpoint } = (await this.context.client.getParty({ name: duchy, signal })) as Duchy;
    if (endpoint !== undefined) return { endpoint, isPinned: false };
    throw new Error(`${duchy} has no endpoint at the exchange, and none in the settings.`);
  }
}
