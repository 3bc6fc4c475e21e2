/** Errors in responses to providers and other duchies. */
import { ExchangeError } from '@measurement-exchange/contract';

/** A value of the request contradicts the computation, the signature or the digest. */
export function mismatch(field: string, description: string): ExchangeError {
  return new ExchangeError('UPLOAD_MISMATCH', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

/** An error between this duchy and the exchange says nothing about the sender's request. */
export function exchangeUnavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The duchy cannot ask the exchange for now: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
