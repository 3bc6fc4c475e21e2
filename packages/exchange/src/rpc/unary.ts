/**
 * Serves unary RPCs in the binary form of gRPC, which every gRPC client uses. Connect's handler would pass each message
 * through a chain of async generators, which takes more processor time than the operation of a small RPC. Connect still
 * serves the other protocols, and the requests that `isPlainGrpc` excludes.
 */
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import {
  contentTypeProto,
  parseContentType,
  parseTimeout,
  setTrailerStatus,
} from '@connectrpc/connect/protocol-grpc';
import { type Api, connectErrorOf } from './api.ts';
import { type BodyLimits, ENVELOPE_BYTES, messageIn, readBody, requireReadable } from './body.ts';
import type { Incoming } from './incoming.ts';
import { finish, grpcTrailers, SLOW_MS } from './stream.ts';

export interface UnaryMethod {
  input: DescMessage;
  output: DescMessage;
  serve(message: object, incoming: Incoming): Promise<MessageInitShape<DescMessage>>;
}

/**
 * Returns whether `serveUnary` can serve the request. Returns false if the request uses a protocol feature that only
 * Connect implements, or if one of its headers is invalid.
 */
export function isPlainGrpc(headers: IncomingHttpHeaders): boolean {
  const { ':method': method, 'content-type': type = '', 'grpc-timeout': timeout } = headers;
  const encoding = headers['grpc-encoding'] ?? 'identity';
  if (method !== 'POST' || encoding !== 'identity' || !parseContentType(type)?.binary) return false;
  return timeout === undefined || parseTimeout(String(timeout), Number.POSITIVE_INFINITY).error === undefined;
}

export async function serveUnary(
  api: Api,
  { input, output, serve }: UnaryMethod,
  incoming: Incoming,
  limits: BodyLimits,
): Promise<void> {
  const { stream } = incoming;
  let body: Buffer | undefined;
  let trailers = OK;
  try {
    await api.authenticate(incoming);
    const message = messageIn(await readBody(stream, limits), limits.maxBytes);
    requireReadable(input, message);
    const response = await serve(fromBinary(input, message), incoming);
    body = enveloped(toBinary(output, create(output, response)));
  } catch (error) {
    const failure = error instanceof ConnectError ? error : connectErrorOf(error, incoming.progress);
    trailers = grpcTrailers(setTrailerStatus(new Headers(), failure));
  }
  if (incoming.isGone) return;
  const head = {
    [constants.HTTP2_HEADER_STATUS]: 200,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: contentTypeProto,
    'x-request-id': incoming.progress.requestId,
  };
  stream.setTimeout(SLOW_MS, () => stream.close(constants.NGHTTP2_CANCEL));
  stream.respond(head, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
  finish(stream);
}

const OK: OutgoingHttpHeaders = { 'grpc-status': '0' };

function enveloped(message: Uint8Array): Buffer {
  const body = Buffer.allocUnsafe(ENVELOPE_BYTES + message.length);
  body[0] = 0;
  body.writeUInt32BE(message.length, 1);
  body.set(message, ENVELOPE_BYTES);
  return body;
}
