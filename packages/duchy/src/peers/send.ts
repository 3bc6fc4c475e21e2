/** Sends a stage's stored output: as a message to another duchy, or as the result to the exchange. */
import { fromBinary } from '@bufbuild/protobuf';
import { unpackSignedMessage } from '@measurement-exchange/consent';
import {
  API_PREFIX,
  type Computation,
  type ExchangeError,
  errorFromJson,
  parseJsonBytes,
  REASONS,
  StageMessagePart,
  specs,
  toJson,
} from '@measurement-exchange/contract';
import { EXCHANGE } from '@measurement-exchange/mpc/protocols/stages';
import { EndpointRefused } from '@measurement-exchange/sdk/endpoints';
import type { Duchy } from '../computations/context.ts';
import { NotReady, PermanentError } from '../computations/errors.ts';
import { setResult } from '../computations/exchange.ts';
import { readBlob, type StoredComputation, type StoredMessage } from '../database/index.ts';
import { counted } from '../observability/counted.ts';
import { peerAddress } from './address.ts';
import { multipart } from './multipart.ts';
import { type PeerRequest, post } from './post.ts';

/** The time limit for sending one message of any size. */
const SEND_MS = 10 * 60_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Error codes from a peer after which a retry may succeed. For example, NOT_FOUND means that the peer does not know the
 * computation yet.
 */
const RETRY = ['ABORTED', 'NOT_FOUND', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED', 'INTERNAL'];

/**
 * Sends the message, and resolves when the recipient has stored it. Returns the computation if the recipient is the
 * exchange.
 */
export async function sendOutput(
  duchy: Duchy,
  computation: StoredComputation,
  message: StoredMessage,
  signal: AbortSignal,
): Promise<Computation | undefined> {
  if (message.peer === EXCHANGE) return reportResult(duchy, computation, message);
  await sendMessage(duchy, message, signal);
  return undefined;
}

async function reportResult(
  { client, db }: Duchy,
  { view }: StoredComputation,
  { certificate, blob }: StoredMessage,
): Promise<Computation> {
  const bytes = Buffer.concat(await Array.fromAsync(readBlob(db, blob)));
  const { ciphertext, typeUrl } = fromBinary(specs.EncryptedMessageSchema, bytes);
  return setResult(client, view.name!, { certificate, encryptedResult: { ciphertext, typeUrl } });
}

async function sendMessage(
  duchy: Duchy,
  { peer, computation, stage, signedMessage, blob }: StoredMessage,
  signal: AbortSignal,
): Promise<void> {
  const { db, metrics } = duchy;
  const send = await senderTo(duchy, peer);
  const { message, signature, signatureAlgorithm } = unpackSignedMessage(signedMessage!);
  const part = toJson(StageMessagePart, {
    message: { message, signature, signatureAlgorithm },
  } as StageMessagePart);
  const data = counted(readBlob(db, blob), (bytes) => metrics.sent(peer, bytes));
  const { contentType, body } = multipart('message', part, data);
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await send(`${API_PREFIX}/computations/${computation}:advance`, {
      headers: { 'content-type': contentType },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
    });
    bytes = await readLimited(response);
  } catch (error) {
    signal.throwIfAborted();
    const detail = error instanceof EndpointRefused ? error.message : 'no response';
    throw new NotReady('WAITS_FOR_PEER', { duchy: peer }, { detail, cause: error });
  }
  if (response.ok) return;
  const error = errorIn(bytes);
  // Log only a known reason, never text that a peer wrote.
  const isKnown = error !== undefined && Object.hasOwn(REASONS, error.reason);
  const detail = isKnown ? error.reason : `HTTP ${response.status}`;
  if (error === undefined || RETRY.includes(error.code)) {
    const { retryAfterSeconds } = error ?? {};
    throw new NotReady('WAITS_FOR_PEER', { stage, duchy: peer }, { detail, retryAfterSeconds });
  }
  throw new PermanentError('PEER_REJECTED', { stage, duchy: peer }, { detail });
}

type Send = (path: string, request: PeerRequest) => Promise<Response>;

async function senderTo(duchy: Duchy, peer: string): Promise<Send> {
  const address = await peerAddress(duchy, peer);
  if (address === undefined) throw new NotReady('WAITS_FOR_PEER', { duchy: peer }, { detail: 'no endpoint' });
  return async (path, request) => {
    const { url: host, lookup } = address();
    const url = new URL(path, host);
    if (lookup !== undefined) return post(url, request, { lookup });
    // Node's fetch accepts an iterable as a body, although the TypeScript type of `fetch` does not allow one.
    const body = request.body as unknown as ReadableStream;
    const init = { ...request, method: 'POST', body, duplex: 'half', redirect: 'manual' };
    return duchy.fetch(url, init as RequestInit);
  };
}

async function readLimited({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function errorIn(bytes: Uint8Array): ExchangeError | undefined {
  try {
    return errorFromJson(parseJsonBytes(bytes));
  } catch {
    return undefined;
  }
}
