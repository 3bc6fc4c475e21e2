/**
 * Serves an RPC with the Connect library, which implements the gRPC, gRPC-Web, and Connect protocols. This file
 * replaces the library's adapter for Node, which reads bodies without a time limit and writes error messages that gRPC
 * clients cannot decode.
 */
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { Code, createContextValues } from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerResponse } from '@connectrpc/connect/protocol';
import { ExchangeError } from '@measurement-exchange/contract';
import { connectErrorOf, INCOMING } from './api.ts';
import { type BodyLimits, messageIn, readBody, requireReadable, requireReadableJson } from './body.ts';
import type { Incoming } from './incoming.ts';

const { HTTP2_HEADER_CONTENT_TYPE, HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS } = constants;

/** Matches the content types of protocols that put the message in an envelope. */
const ENVELOPED = /^application\/grpc/;
const BINARY = /^application\/(?:grpc|grpc-web|proto)(?:\+proto)?(?:;|$)/;
/** If a caller does not read its response for this long, the RPC is canceled. The connection stays open. */
export const SLOW_MS = 30_000;
/** After the response, a caller has this much time to finish sending its request. Then the HTTP/2 stream is closed. */
const DISCARD_MS = 2_000;
/** The maximum total size of the messages that a caller streams. Only server reflection accepts streams of messages. */
const MAX_STREAMED_BYTES = 64 * 1024;

export async function serveStream(
  handler: UniversalHandler,
  incoming: Incoming,
  limits: BodyLimits,
): Promise<void> {
  const { stream, headers } = incoming;
  const header = webHeaders(headers);
  const isStreamed = handler.method.methodKind === 'bidi_streaming';
  const body = isStreamed ? streamed(incoming) : message(handler, header, incoming, limits);
  const response = await handler({
    httpVersion: '2.0',
    method: headers[HTTP2_HEADER_METHOD] as string,
    // Use a placeholder as the host name, because Connect reads only the query of this URL.
    url: `https://exchange${headers[HTTP2_HEADER_PATH]}`,
    header,
    body,
    signal: incoming.signal,
    contextValues: createContextValues().set(INCOMING, incoming),
  });
  response.header?.set('x-request-id', incoming.progress.requestId);
  // Set no timeout for streamed responses, because a health watch may send nothing for hours.
  if (handler.method.methodKind === 'unary') {
    stream.setTimeout(SLOW_MS, () => stream.close(constants.NGHTTP2_CANCEL));
  }
  await respond(stream, response);
}

/** Responds to a request whose path does not match an RPC. */
export function rejectUnknown({ stream, headers }: Incoming): void {
  const type = String(headers[HTTP2_HEADER_CONTENT_TYPE] ?? '');
  const status = ENVELOPED.test(type)
    ? {
        [HTTP2_HEADER_STATUS]: 200,
        [HTTP2_HEADER_CONTENT_TYPE]: type,
        'grpc-status': Code.Unimplemented,
        'grpc-message': 'No such RPC.',
      }
    : { [HTTP2_HEADER_STATUS]: 404 };
  stream.respond(status, { endStream: true });
  finish(stream);
}

async function* message(
  { method }: UniversalHandler,
  header: Headers,
  { stream, progress }: Incoming,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const type = header.get(HTTP2_HEADER_CONTENT_TYPE) ?? '';
  try {
    const bytes = await readBody(stream, limits);
    const content = ENVELOPED.test(type) ? messageIn(bytes, limits.maxBytes) : bytes;
    if (BINARY.test(type)) requireReadable(method.input, content);
    else requireReadableJson(content);
    yield bytes;
  } catch (error) {
    throw connectErrorOf(error, progress);
  }
}

async function* streamed({ stream, progress }: Incoming): AsyncGenerator<Uint8Array> {
  let size = 0;
  // Leaving the loop must not destroy the stream, because the trailers have not been sent yet.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_STREAMED_BYTES) {
      const message = `The messages of a stream may have at most ${MAX_STREAMED_BYTES} bytes together.`;
      throw connectErrorOf(new ExchangeError('BODY_TOO_LARGE', message), progress);
    }
    yield chunk;
  }
}

async function respond(stream: ServerHttp2Stream, response: UniversalServerResponse): Promise<void> {
  const { status, header, body, trailer } = response;
  const parts = body?.[Symbol.asyncIterator]();
  // Wait for the first part of the body before sending the headers. Connect may change the headers until the first part
  // exists, and the trailers until the last part exists.
  let part = await parts?.next();
  if (stream.destroyed) return void (await parts?.return?.());
  const head: OutgoingHttpHeaders = { ...nodeHeaders(header), [HTTP2_HEADER_STATUS]: status };
  stream.respond(head, { waitForTrailers: trailer !== undefined });
  if (trailer !== undefined) stream.once('wantTrailers', () => stream.sendTrailers(grpcTrailers(trailer)));
  while (part !== undefined && part.done !== true) {
    if (stream.destroyed) return void (await parts?.return?.());
    if (!stream.write(part.value)) await drained(stream);
    part = await parts?.next();
  }
  stream.end();
  finish(stream);
}

/**
 * Discards the bytes that the caller still sends after the server has responded. Closing the stream immediately could
 * drop the trailers, which contain the error.
 */
export function finish(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.destroyed) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), DISCARD_MS);
  stream.once('close', () => clearTimeout(timer)).resume();
}

/** Resolves when the stream accepts more bytes, or is closed. */
function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

function webHeaders(headers: IncomingHttpHeaders): Headers {
  const web = new Headers();
  for (const name in headers) {
    if (name.startsWith(':')) continue;
    const value = headers[name]!;
    web.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return web;
}

function nodeHeaders(headers: Headers | undefined): OutgoingHttpHeaders {
  return headers === undefined ? {} : Object.fromEntries(headers);
}

/**
 * Returns the trailers, with `grpc-message` encoded as gRPC requires: only the percent sign and bytes outside of
 * printable ASCII are percent-encoded. Connect encodes more characters, so clients that decode with `decodeURI` would
 * show `dataProviders%2Fx`.
 */
export function grpcTrailers(trailer: Headers): OutgoingHttpHeaders {
  const trailers = nodeHeaders(trailer);
  const message = trailers['grpc-message'];
  if (typeof message === 'string') {
    trailers['grpc-message'] = decodeURIComponent(message).replace(/[^ -$&-~]/gu, encodeURIComponent);
  }
  return trailers;
}
