/** Translates any thrown value into an API error. */
import { ExchangeError } from '@measurement-exchange/contract';
import { callerError } from '@measurement-exchange/server';
import { internalError } from '../serving/index.ts';

const MEDIA_TYPE = 'A body must be application/json, in UTF-8, not compressed.';

export function unsupportedMediaType(): ExchangeError {
  return new ExchangeError('UNSUPPORTED_MEDIA_TYPE', MEDIA_TYPE);
}

export function toExchangeError(error: unknown): ExchangeError {
  return callerError(error, MEDIA_TYPE) ?? internalError(error);
}
