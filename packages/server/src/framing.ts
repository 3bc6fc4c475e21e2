/** Checks of a request as HTTP, before anything else is read of it. */
import { ExchangeError } from '@measurement-exchange/contract';
import type { FastifyRequest } from 'fastify';

/** Node keeps the first of two and drops the other: a proxy in front may have read the other one. */
const ONCE = new Set(['authorization', 'content-type', 'host']);

/** Why the request is rejected, whatever it asks for. */
export function framingError(
  { raw, originalUrl }: FastifyRequest,
  maxUrl: number,
): ExchangeError | undefined {
  if (originalUrl.length > maxUrl) {
    return new ExchangeError('URI_TOO_LONG', 'The URL is above the size limit.');
  }
  if (!originalUrl.startsWith('/')) return malformed('The request target must be a path.');
  const seen = new Set<string>();
  for (let i = 0; i < raw.rawHeaders.length; i += 2) {
    const name = raw.rawHeaders[i]!.toLowerCase();
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) return malformed(`The header ${name} may come once.`);
    seen.add(name);
  }
  // RFC 9112, section 3.2.
  if (raw.httpVersion === '1.1' && !seen.has('host')) return malformed('The header host is missing.');
  // Node decodes chunked only, and passes any other coding of the body on undecoded.
  const coding = raw.headers['transfer-encoding'] ?? 'chunked';
  if (coding.toLowerCase() !== 'chunked') return malformed('The only transfer coding is chunked.');
  return undefined;
}

function malformed(message: string): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', message);
}
