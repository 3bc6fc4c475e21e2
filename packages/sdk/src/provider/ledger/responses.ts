/** Defines the responses to requisitions, and converts them to and from the rows of a ledger. */
import type { EncryptedMessage, Refusal } from '@measurement-exchange/contract';

/** A response that the provider sends to the exchange. The etag is added when the response is sent. */
export type DirectResponse =
  | { encryptedResult: EncryptedMessage; nonce: bigint; certificate: string; refusal?: never; upload?: never }
  | { refusal: Refusal; upload?: never };

/** A response that is sent to the exchange or to a duchy. */
export type RequisitionResponse = DirectResponse | { upload: Upload; refusal?: never };

/** The signed part of an upload to a duchy. The other part, the share or sketch, is in a file. */
export interface Upload {
  /** The duchy's resource name, `duchies/…`. */
  duchy: string;
  /** The signed `fulfillment` part of the upload, as JSON. It contains the digest of the file. */
  fulfillment: string;
}

export interface ResponseRow {
  certificate: string;
  nonce: string;
  type_url: string;
  ciphertext: Uint8Array;
  duchy: string;
  fulfillment: string | null;
  justification: Refusal['justification'] | null;
  message: string | null;
}

export function columnsOf({ refusal, upload, ...result }: RequisitionResponse) {
  const empty = (count: number) => Array<null>(count).fill(null);
  if (refusal) return [...empty(6), refusal.justification, refusal.message ?? null];
  if (upload) return [...empty(4), upload.duchy, upload.fulfillment, ...empty(2)];
  const { certificate, nonce, encryptedResult } = result as Extract<DirectResponse, { nonce: bigint }>;
  return [certificate, nonce.toString(), encryptedResult.typeUrl, encryptedResult.ciphertext, ...empty(4)];
}

export function responseOf(row: ResponseRow): RequisitionResponse {
  const { justification, message, duchy, fulfillment } = row;
  if (justification !== null) return { refusal: { justification, ...(message !== null && { message }) } };
  if (fulfillment !== null) return { upload: { duchy, fulfillment } };
  return {
    encryptedResult: { ciphertext: row.ciphertext, typeUrl: row.type_url },
    nonce: BigInt(row.nonce),
    certificate: row.certificate,
  };
}
