/** What a request must be as HTTP before anything else is looked at. */
import { ExchangeError } from '@measurement-exchange/contract';
import type { FastifyRequest } from 'fastify';

/** Longer than any list of 50 names; what does not fit here goes into a body. */
const MAX_URL = 16 * 1024;
/** Node keeps the first of two and drops the other: a proxy in front may have read the other one. */
const ONCE = new Set(['authorization', 'content-type', 'host']);

/** Why the request is rejected whatever it asks for, and whoever asks. */
export function framingError({ raw, originalUrl }: FastifyRequest): ExchangeError | undefined {
  if (originalUrl.length > MAX_URL) {
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
  // Node undoes chunked, and hands on what else was done to the body as it is.
  const coding = raw.headers['transfer-encoding'] ?? 'chunked';
  if (coding.toLowerCase() !== 'chunked') return malformed('The only transfer coding is chunked.');
  return undefined;
}

function malformed(message: string): ExchangeError {
  return new ExchangeError('MALFORMED_REQUEST', message);
}
