/** Sends error responses in the API's format. */
import { ExchangeError } from '@measurement-exchange/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from './clientErrors.ts';

/**
 * Translates a Fastify error, and returns an ExchangeError unchanged. Returns undefined if the error is not the
 * caller's fault.
 */
export function callerError(error: unknown, mediaTypeMessage: string): ExchangeError | undefined {
  if (error instanceof ExchangeError) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ExchangeError('UNSUPPORTED_MEDIA_TYPE', mediaTypeMessage);
  }
  if (statusCode < 400 || statusCode >= 500) return undefined;
  return new ExchangeError('MALFORMED_REQUEST', 'The request is not well-formed.', { cause: error });
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: ExchangeError): FastifyReply {
  if (error.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  if (error.reason === 'METHOD_NOT_ALLOWED') reply.header('allow', error.metadata.allow);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  // Close the connection, because the server does not read the rest of the request body.
  if (hasBody(request) && !request.raw.complete) reply.header('connection', 'close');
  return reply.code(error.httpStatus).header('content-type', JSON_TYPE).send(JSON.stringify(error));
}

/**
 * Returns whether the headers announce a body. `raw.complete` is not enough, because Node calls the handler before it
 * sets `raw.complete`, even for a request without a body.
 */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
