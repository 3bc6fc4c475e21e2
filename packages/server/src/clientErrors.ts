/** Responses to bytes that never became a request, and the headers of all responses. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ExchangeError } from '@measurement-exchange/contract';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every response, on every path out. */
export const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Responds when the parser or a timeout gave up on a request. Returns the error if it could be sent. */
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
  const rejection = clientError(error.code);
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
 * Whether a response is under way to a request that was received whole, or rejected by its headers: the parser failed on the
 * bytes after it. Another response would be a second one, or be taken for the first, so the connection ends after that one.
 */
function endsAfterResponse(socket: Socket): boolean {
  // Node itself reads this before it responds to such an error, and offers no public property.
  const underWay = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
  if (!underWay || !(underWay.headersSent || underWay.req.complete)) return false;
  if (!underWay.headersSent) underWay.setHeader('connection', 'close');
  if (!ending.has(socket)) underWay.once('finish', () => socket.end());
  ending.add(socket);
  return true;
}

function clientError(code: string | undefined): ExchangeError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ExchangeError('HEADERS_TOO_LARGE', 'The request headers are above the size limit.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ExchangeError('REQUEST_TIMEOUT', 'The request was not received in time.');
    default:
      return new ExchangeError('MALFORMED_REQUEST', 'The request is not well-formed HTTP.');
  }
}
