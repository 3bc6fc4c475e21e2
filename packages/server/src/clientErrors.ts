/** Sends error responses to input that is not a complete HTTP request. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ExchangeError, type Reason } from '@measurement-exchange/contract';

export const JSON_TYPE = 'application/json; charset=utf-8';

export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * Responds to a request that Node's parser rejected or that timed out. Returns the sent error, or undefined if nothing
 * was sent.
 */
export function sendClientError(
  error: Error & { code?: string },
  socket: Socket,
  headers: Record<string, string>,
): ExchangeError | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (endsAfterResponse(socket)) return undefined;
  const [reason, message] = REJECTIONS[error.code ?? ''] ?? MALFORMED;
  const rejection = new ExchangeError(reason, message);
  const status = rejection.httpStatus;
  const body = JSON.stringify(rejection);
  const head = Object.entries({
    ...headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
  return rejection;
}

const ending = new WeakSet<Socket>();

/**
 * Returns true if a response has begun, or if a complete request waits for its response. In both cases, closes the
 * connection after that response. The caller must then send no error response, because the client could mistake the
 * error for that response.
 */
function endsAfterResponse(socket: Socket): boolean {
  // Node has no public property for the response in progress. Node's own error handler reads this private property too.
  const underWay = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  if (!underWay || !(underWay.headersSent || underWay.req.complete)) return false;
  if (!underWay.headersSent) underWay.setHeader('connection', 'close');
  if (!ending.has(socket)) underWay.once('finish', () => socket.end());
  ending.add(socket);
  return true;
}

const MALFORMED = ['MALFORMED_REQUEST', 'The request is not well-formed HTTP.'] as const;
const REJECTIONS: Record<string, readonly [Reason, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The request headers are above the size limit.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request was not received in time.'],
};
