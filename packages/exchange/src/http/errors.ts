/** The one translator from whatever was thrown to a response. */
import { ExchangeError } from '@measurement-exchange/contract';
import { JSON_TYPE } from '@measurement-exchange/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { internalError } from '../serving/index.ts';

/** Errors that Fastify itself raises, by their code. */
const FASTIFY: Record<string, ExchangeError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedMediaType(),
};

export function unsupportedMediaType(): ExchangeError {
  return new ExchangeError(
    'UNSUPPORTED_MEDIA_TYPE',
    'A body must be application/json, in UTF-8, not compressed.',
  );
}

export function toExchangeError(error: unknown): ExchangeError {
  if (error instanceof ExchangeError) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const known = FASTIFY[code];
  if (known !== undefined) return known;
  if (statusCode >= 400 && statusCode < 500) {
    return new ExchangeError('MALFORMED_REQUEST', 'The request is not well-formed.', { cause: error });
  }
  return internalError(error);
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: ExchangeError): FastifyReply {
  if (error.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  if (error.reason === 'METHOD_NOT_ALLOWED') reply.header('allow', error.metadata.allow);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  // Nobody will read the rest of an unread body: the connection ends with this response.
  if (!request.raw.complete) reply.header('connection', 'close');
  return reply.code(error.httpStatus).header('content-type', JSON_TYPE).send(JSON.stringify(error));
}
