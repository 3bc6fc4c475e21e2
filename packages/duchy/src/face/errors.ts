/** Converts any thrown value to an API error, and discards the rest of a rejected request. */
import type { IncomingMessage } from 'node:http';
import { ExchangeError } from '@measurement-exchange/contract';
import { isTransient } from '@measurement-exchange/sdk/client';
import { callerError } from '@measurement-exchange/server';

const MEDIA_TYPE = 'The body must be multipart/form-data, not compressed.';

export function unsupportedMediaType(): ExchangeError {
  return new ExchangeError('UNSUPPORTED_MEDIA_TYPE', MEDIA_TYPE);
}

export function toExchangeError(error: unknown): ExchangeError {
  if (!(error instanceof ExchangeError) && isTransient(error)) {
    return new ExchangeError('UNAVAILABLE', 'The exchange cannot be reached at the moment: retry.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  const internal = () =>
    new ExchangeError('INTERNAL', 'This is a defect of the duchy: report the request ID.', { cause: error });
  return callerError(error, MEDIA_TYPE) ?? internal();
}

const MAX_DRAINED_BYTES = 4 * 1024 * 1024;
const MAX_DRAIN_MS = 2_000;

/**
 * Reads and discards the rest of the body, up to 4 MiB and for at most 2 seconds. This is necessary because most
 * senders read the response only after they have sent the whole body.
 */
export function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  // A parser that still reads the body would pause it.
  request.unpipe();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_DRAIN_MS);
    let left = MAX_DRAINED_BYTES;
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve();
    });
    for (const event of ['end', 'close', 'error']) request.once(event, resolve);
    request.once('close', () => clearTimeout(timer));
    request.resume();
  });
}
