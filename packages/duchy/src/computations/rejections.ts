/** Errors in responses to providers and other duchies. */
import { ExchangeError } from '@measurement-exchange/contract';

/** The error for a value of the request that contradicts the computation, the signature or the digest. */
export function mismatch(field: string, description: string): ExchangeError {
  return new ExchangeError('UPLOAD_MISMATCH', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

/** The error for a failed call to the exchange, which says nothing about the sender's request. */
export function exchangeUnavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The duchy cannot reach the exchange at the moment: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
