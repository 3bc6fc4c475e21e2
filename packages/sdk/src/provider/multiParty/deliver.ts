import type { Duchy, Requisition, RequisitionState } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from '../../client/clock.ts';
import type { ExchangeClient } from '../../client/index.ts';
import type { Upload } from '../ledger.ts';
import type { ComputationSettings } from './settings.ts';
import type { ShareFiles } from './shareFiles.ts';
import { UploadFailed, upload, uploadUrl } from './upload.ts';

/** Transient failures in a row, after which the agent turns to other requisitions. */
const MAX_ATTEMPTS = 3;
const TIMEOUT_SECONDS = 60;
/** A duchy that asks for a longer wait is left alone meanwhile. */
const MAX_WAIT_SECONDS = 10;

/**
 * Sends a stored upload to its duchy, which reports it to the exchange. Resolves to the state of the requisition
 * afterwards; throws where it is still open. The same bytes are sent each time, which a duchy takes once.
 */
export async function deliverUpload(
  requisition: Requisition,
  { duchy, fulfillment }: Upload,
  context: {
    client: ExchangeClient;
    settings: ComputationSettings;
    files: ShareFiles;
    clock: Clock;
    signal?: AbortSignal | undefined;
    onProgress?: (percent: number) => void;
  },
): Promise<RequisitionState> {
  const { client, settings, files, clock, signal, onProgress } = context;
  const name = requisition.name!;
  const options = signal ? { signal } : {};
  const stateNow = async () => (await client.getRequisition({ name, ...options })).state;
  if (requisition.state !== 'UNFULFILLED') return requisition.state;

  const { endpoint, isPinned } = await endpointOf(duchy, settings, client, options);
  const allowPrivate = isPinned || settings.allowHttp === true;
  const url = uploadUrl(endpoint, name, settings);
  const timeoutMs = 1000 * (settings.uploadTimeoutSeconds ?? TIMEOUT_SECONDS);
  for (let attempt = 1; ; attempt++) {
    let waitSeconds = 0;
    try {
      await upload({ url, fulfillment, file: files.path(name), timeoutMs, allowPrivate, signal, onProgress });
      const state = await stateNow();
      if (state !== 'UNFULFILLED') return state;
      throw new Error(`${duchy} took the upload, and did not report it to the exchange yet.`);
    } catch (error) {
      if (!(error instanceof UploadFailed)) throw error;
      // Also where an earlier attempt was stored, and its response lost.
      const state = await stateNow();
      if (state !== 'UNFULFILLED') return state;
      waitSeconds = error.retryAfterSeconds ?? 0;
      if (error.kind !== 'transient' || attempt === MAX_ATTEMPTS || waitSeconds > MAX_WAIT_SECONDS)
        throw error;
    }
    await clock.sleep(1000 * waitSeconds + backoffMs(attempt), signal);
  }
}

async function endpointOf(
  duchy: string,
  { duchies }: ComputationSettings,
  client: ExchangeClient,
  options: { signal?: AbortSignal },
): Promise<{ endpoint: string; isPinned: boolean }> {
  const configured = Object.hasOwn(duchies, duchy) ? duchies[duchy]!.endpoint : undefined;
  const endpoint = configured ?? ((await client.getParty({ name: duchy, ...options })) as Duchy).endpoint;
  if (endpoint === undefined)
    throw new Error(`${duchy} has no endpoint at the exchange, and none in the settings.`);
  return { endpoint, isPinned: configured !== undefined };
}
