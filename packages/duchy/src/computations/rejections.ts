/** Creates the errors that this duchy sends to providers and other duchies. */
import { ExchangeError } from '@measurement-exchange/contract';

export function mismatch(field: string, description: string): ExchangeError {
  return new ExchangeError('UPLOAD_MISMATCH', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

export function exchangeUnavailable(cause: unknown): ExchangeError {
  return new ExchangeError('UNAVAILABLE', 'The duchy cannot reach the exchange at the moment: retry.', {
    cause,
    retryAfterSeconds: 1,
  });
}
