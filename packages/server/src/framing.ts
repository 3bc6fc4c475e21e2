/** Checks a request's URL and headers before its body is read. */
import { ExchangeError } from '@measurement-exchange/contract';
import type { FastifyRequest } from 'fastify';

/** Headers that must not be repeated. Node ignores a second value, but a proxy may have used the second value. */
const ONCE: readonly string[] = ['authorization', 'content-type', 'host'];
const LONGEST = Math.max(...ONCE.map((name) => name.length));

export function framingError(
  { raw, originalUrl }: FastifyRequest,
  maxUrl: number,
): ExchangeError | undefined {
  if (originalUrl.length > maxUrl) {
    return new ExchangeError('URI_TOO_LONG', 'The URL is above the size limit.');
  }
  if (!originalUrl.startsWith('/')) return malformed('The request target must be a path.');
  const { rawHeaders } = raw;
  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length > LONGEST) continue;
    const name = rawHeaders[i]!.toLowerCase();
    const at = ONCE.indexOf(name);
    if (at < 0) continue;
    if (seen & (1 << at)) return malformed(`The header ${name} may come once.`);
    seen |= 1 << at;
  }
  // RFC 9112, section 3.2, requires a Host header.
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
    return malformed('The header host is missing.');
  // Node can decode only the transfer coding `chunked`.
  const coding = raw.headers['transfer-encoding'] ?? 'chunked';
  if (coding.toLowerCase() !== 'chunked') return malformed('The only transfer coding is chunked.');
  return undefined;
}

function malformed(message: string): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', message);
}
