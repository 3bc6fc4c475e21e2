/** Calls that change a computation at the exchange. Each can be repeated, because it reads the state before it acts. */
import {
  type Computation,
  type EncryptedMessage,
  ExchangeError,
  type LogRequest,
  type SetParametersRequest,
  TERMINAL_MEASUREMENT_STATES,
} from '@measurement-exchange/contract';
import { type ExchangeClient, isTransient, retryOnAborted } from '@measurement-exchange/sdk/client';
import type { PermanentError } from './errors.ts';

/** The parameters of one protocol, under its name. */
type Parameters = Omit<SetParametersRequest, 'etag' | 'certificate'>;

/** All participants and uploads change the one etag of a computation. */
const MAX_ATTEMPTS = 20;

export function hasEnded({ state }: Pick<Computation, 'state'>): boolean {
  return (TERMINAL_MEASUREMENT_STATES as readonly string[]).includes(state);
}

/** Codes that say nothing about the computation: this duchy has no access now, or the computation changed meanwhile. */
const NOT_NOW = ['ABORTED', 'UNAUTHENTICATED', 'PERMISSION_DENIED'];

/** Whether the exchange or the network is at fault, and not the request: then everything waits. */
export function isOutage(error: unknown): boolean {
  return isTransient(error) || (error instanceof ExchangeError && NOT_NOW.includes(error.code));
}

/** Publishes the keys that this duchy made for the computation. */
export function setParameters(
  client: ExchangeClient,
  name: string,
  { duchy, certificate, parameters }: { duchy: string; certificate: string; parameters: Parameters },
): Promise<Computation> {
  return change(client, name, (fresh) => {
    if (hasEnded(fresh) || fresh.participants[duchy]?.state !== 'CREATED') return fresh;
    const body = { etag: fresh.etag!, certificate, ...parameters };
    return client.setComputationParameters({ name, body });
  });
}

/** Reports that a provider's upload is stored; throws where the exchange no longer accepts it. */
export function reportFulfillment(
  client: ExchangeClient,
  name: string,
  { requisition, nonce }: { requisition: string; nonce: bigint },
): Promise<Computation> {
  return change(client, name, (fresh) => {
    const state = fresh.requisitions.find((r) => r.name === requisition)?.state;
    if (state === 'FULFILLED') return fresh;
    if (state !== 'UNFULFILLED') {
      throw new ExchangeError('REQUISITION_STATE_ILLEGAL', `${requisition} is ${state ?? 'not part of it'}.`);
    }
    return client.fulfillComputationRequisition({ name, body: { etag: fresh.etag!, requisition, nonce } });
  });
}

/** Confirms that this duchy is ready to compute. */
export function confirmParticipation(
  client: ExchangeClient,
  name: string,
  duchy: string,
): Promise<Computation> {
  return change(client, name, (fresh) => {
    if (hasEnded(fresh) || fresh.participants[duchy]?.state !== 'PARAMS_SET') return fresh;
    return client.confirmComputation({ name, body: { etag: fresh.etag! } });
  });
}

/** Sets the result; a result that is already set stays. */
export function setResult(
  client: ExchangeClient,
  name: string,
  result: { certificate: string; encryptedResult: EncryptedMessage },
): Promise<Computation> {
  return change(client, name, (fresh) =>
    hasEnded(fresh) ? fresh : client.setComputationResult({ name, body: { etag: fresh.etag!, ...result } }),
  );
}

/** Fails the computation; one that has ended stays as it is. */
export function fail(
  client: ExchangeClient,
  name: string,
  { code, position }: Pick<PermanentError, 'code' | 'position'>,
): Promise<Computation> {
  return change(client, name, (fresh) =>
    hasEnded(fresh) ? fresh : client.failComputation({ name, body: { etag: fresh.etag!, code, position } }),
  );
}

/** Adds progress to the timeline. The computation does not depend on it, so an error is ignored. */
export async function report(client: ExchangeClient, name: string, entry: LogRequest): Promise<void> {
  await client.logComputation({ name, body: entry }).catch(() => {});
}

/** Reads the computation and acts with its etag, again if it changed meanwhile; one that ended meanwhile stays as it is. */
async function change(
  client: ExchangeClient,
  name: string,
  act: (fresh: Computation) => Computation | Promise<Computation>,
): Promise<Computation> {
  const read = () => client.getComputation({ name });
  try {
    return await retryOnAborted(read, async (fresh) => act(fresh), { maxAttempts: MAX_ATTEMPTS });
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.reason !== 'COMPUTATION_STATE_ILLEGAL') throw error;
    const fresh = await read();
    if (!hasEnded(fresh)) throw error;
    return act(fresh);
  }
}
