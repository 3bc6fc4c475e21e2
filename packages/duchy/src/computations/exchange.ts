/**
 * Calls that change a computation at the exchange. Except for log entries, each call is safe to repeat, because it
 * reads the state before it acts.
 */
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

/** One protocol's parameters, in a property named after the protocol. */
type Parameters = Omit<SetParametersRequest, 'etag' | 'certificate'>;

/**
 * The maximum number of attempts at a change. An attempt fails if another participant changes the computation at the
 * same time.
 */
const MAX_ATTEMPTS = 20;

export function hasEnded({ state }: Pick<Computation, 'state'>): boolean {
  return (TERMINAL_MEASUREMENT_STATES as readonly string[]).includes(state);
}

/**
 * Error codes of failures that a retry may fix. ABORTED means that another party changed the computation first. The
 * other two codes mean that the exchange denies access to this duchy, possibly only for now.
 */
const NOT_NOW = ['ABORTED', 'UNAUTHENTICATED', 'PERMISSION_DENIED'];

export function isOutage(error: unknown): boolean {
  return isTransient(error) || (error instanceof ExchangeError && NOT_NOW.includes(error.code));
}

/** Sets this duchy's parameters: the public keys that it created for the computation. */
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

/** Reports that a provider's upload is stored. Throws if the exchange no longer accepts the upload. */
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

export function confirmParticipation(client: ExchangeClient, name: string, duchy: string) {
  return change(client, name, (fresh) => {
    if (hasEnded(fresh) || fresh.participants[duchy]?.state !== 'PARAMS_SET') return fresh;
    return client.confirmComputation({ name, body: { etag: fresh.etag! } });
  });
}

/** Sets the result, unless the computation has already ended. */
export function setResult(
  client: ExchangeClient,
  name: string,
  result: { certificate: string; encryptedResult: EncryptedMessage },
): Promise<Computation> {
  return change(client, name, (fresh) =>
    hasEnded(fresh) ? fresh : client.setComputationResult({ name, body: { etag: fresh.etag!, ...result } }),
  );
}

/** Fails the computation, unless it has already ended. */
export function fail(
  client: ExchangeClient,
  name: string,
  { code, position }: Pick<PermanentError, 'code' | 'position'>,
): Promise<Computation> {
  return change(client, name, (fresh) =>
    hasEnded(fresh) ? fresh : client.failComputation({ name, body: { etag: fresh.etag!, code, position } }),
  );
}

/**
 * Adds an entry to the computation's progress log at the exchange. Ignores errors, because the computation does not
 * depend on the log.
 */
export async function report(client: ExchangeClient, name: string, entry: LogRequest): Promise<void> {
  await client.logComputation({ name, body: entry }).catch(() => {});
}

/**
 * Reads the computation and calls `act` with it. Repeats both steps if another party changed or ended the computation.
 */
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
