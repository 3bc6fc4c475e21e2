/** From a requisition to its answer, and from the answer to the exchange. */
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
import { InvalidQuery } from './filter/index.ts';
import { type Answer, InsufficientBudget } from './ledger.ts';
import { Refuse } from './refuse.ts';
import type { VerifiedRequisition } from './verify.ts';

/** Signed, then encrypted under the key that the specification names. */
export async function sealResult(
  result: specs.Measurement_Result,
  { resultKeyset, nonce }: VerifiedRequisition,
  { signer, certificate }: { signer: Signer; certificate: string },
): Promise<Answer> {
  const typeUrl = TYPE_URLS.MeasurementResult;
  const signed = await signer.sign(toBinary(specs.Measurement_ResultSchema, result));
  const ciphertext = await encrypt(resultKeyset, packSignedMessage(signed, typeUrl));
  return { encryptedResult: { ciphertext, typeUrl }, nonce, certificate };
}

/** The refusal that a failure stands for; none where it may pass. */
export function refusalFor(error: unknown): Refusal | undefined {
  const refuse = asRefuse(error);
  return refuse && { justification: refuse.justification, message: refuse.message };
}

function asRefuse(error: unknown): Refuse | undefined {
  if (error instanceof Refuse) return error;
  if (error instanceof InvalidQuery) return new Refuse('SPEC_INVALID', error.message);
  if (error instanceof InsufficientBudget) return new Refuse('INSUFFICIENT_PRIVACY_BUDGET', error.message);
  return undefined;
}

/**
 * Sends an answer, with the etag of the requisition as given or, when that is stale, as read again. Resolves to
 * the state the requisition is in then: whoever closed it, ourselves in an earlier attempt included, it stays so.
 */
export function deliver(
  client: ExchangeClient,
  requisition: Requisition,
  answer: Answer,
  signal?: AbortSignal,
): Promise<RequisitionState> {
  const name = requisition.name!;
  const options = signal ? { signal } : {};
  let known: Requisition | undefined = requisition;
  const read = async () => {
    const fresh = known ?? (await client.getRequisition({ name, ...options }));
    known = undefined;
    return fresh;
  };
  const send = async ({ state, etag }: Requisition) => {
    if (state !== 'UNFULFILLED') return state;
    const sent = answer.refusal
      ? await client.refuseRequisition({ name, body: { refusal: answer.refusal, etag: etag! }, ...options })
      : await client.fulfillDirectRequisition({ name, body: { ...answer, etag: etag! }, ...options });
    return sent.state;
  };
  return retryOnAborted(read, send, options);
}
