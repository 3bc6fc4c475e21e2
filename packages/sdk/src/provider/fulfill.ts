/** Builds the response to a requisition (a signed and encrypted result, or a refusal), and sends it to the exchange. */
import { toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, type Signer } from '@measurement-exchange/consent';
import {
  type Refusal,
  type Requisition,
  type RequisitionState,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { type ExchangeClient, retryOnAborted } from '../client/index.ts';
import { RefusalError } from '../refusals/refusalError.ts';
import type { DirectResponse } from './ledger/responses.ts';
import type { VerifiedRequisition } from './verify.ts';

export interface Sealing {
  signer: Signer;
  /** The resource name of the signer's certificate. */
  certificate: string;
}

/** Signs a result, then encrypts it with the consumer's public key from the specification. */
export async function sealResult(
  result: specs.Measurement_Result,
  { resultKeyset, nonce }: VerifiedRequisition,
  { signer, certificate }: Sealing,
): Promise<DirectResponse> {
  const typeUrl = TYPE_URLS.MeasurementResult;
  const signed = await signer.sign(toBinary(specs.Measurement_ResultSchema, result));
  const ciphertext = await encrypt(resultKeyset, packSignedMessage(signed, typeUrl));
  return { encryptedResult: { ciphertext, typeUrl }, nonce, certificate };
}

/** Returns the refusal to send for a RefusalError, or undefined for any other error, because a retry may succeed. */
export function refusalFor(error: unknown): Refusal | undefined {
  return error instanceof RefusalError ? error.refusal : undefined;
}

/**
 * Fulfills or refuses a requisition, and resolves to the requisition's new state. If the etag is stale, reads the
 * requisition again and repeats the call. A requisition that is already closed stays unchanged.
 */
export function fulfillOrRefuse(
  client: ExchangeClient,
  requisition: Requisition,
  response: DirectResponse,
  signal?: AbortSignal,
): Promise<RequisitionState> {
  const name = requisition.name!;
  let given: Requisition | undefined = requisition;
  const read = async () => {
    const fresh = given ?? (await client.getRequisition({ name, signal }));
    given = undefined;
    return fresh;
  };
  const send = async ({ state, etag }: Requisition) => {
    if (state !== 'UNFULFILLED') return state;
    const closed = response.refusal
      ? await client.refuseRequisition({ name, body: { refusal: response.refusal, etag: etag! }, signal })
      : await client.fulfillDirectRequisition({ name, body: { ...response, etag: etag! }, signal });
    return closed.state;
  };
  return retryOnAborted(read, send, { signal });
}
