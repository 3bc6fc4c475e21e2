/** Creates the errors that this duchy sends to providers and other duchies. */
import { ExchangeError } from '@measurement-exchange/contract';

/** Returns the error for a request value that does not match the computation, the signature or the digest. */
export function mismatch(field: string, description: string): ExchangeError {
  return new ExchangeError('UPLOAD_MISMATCH', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

/**
 * Returns the error to send if this duchy cannot reach the exchange. The sender should retry, because its request may be
 * valid.
 */
export function exchangeUnavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The duchy cannot reach the exchange at the moment: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
