/** The one translator from whatever was thrown to a response, in the error model of the exchange. */
import type { IncomingMessage } from 'node:http';
import { ExchangeError } from '@measurement-exchange/contract';
import { isTransient } from '@measurement-exchange/sdk/client';
import { JSON_TYPE } from '@measurement-exchange/server';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A value in what was sent is not what the computation, the signature or the digest say. */
export function mismatch(field: string, description: string): ExchangeError {
  return new ExchangeError('UPLOAD_MISMATCH', `${field}: ${description}`, {
    violations: [{ field, description }],
    metadata: { fieldName: field },
  });
}

export function toExchangeError(error: unknown): ExchangeError {
  if (error instanceof ExchangeError) return error;
  if (isTransient(error)) {
    return new ExchangeError('UNAVAILABLE', 'The exchange is out of reach for now: retry.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedMediaType();
  if (statusCode >= 400 && statusCode < 500) {
    return new ExchangeError('MALFORMED_REQUEST', 'The request is not well-formed.', { cause: error });
  }
  return new ExchangeError('INTERNAL', 'A defect of the duchy; report the request ID.', { cause: error });
}

export function unsupportedMediaType(): ExchangeError {
  return new ExchangeError('UNSUPPORTED_MEDIA_TYPE', 'The body must be multipart/form-data, not compressed.');
}

export async function sendError(request: FastifyRequest, reply: FastifyReply, error: ExchangeError) {
  if (error.reason === 'METHOD_NOT_ALLOWED') reply.header('allow', error.metadata.allow);
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  await drain(request.raw);
  if (!request.raw.complete) reply.header('connection', 'close');
  return reply.code(error.httpStatus).header('content-type', JSON_TYPE).send(JSON.stringify(error));
}

const MAX_DRAINED_BYTES = 4 * 1024 * 1024;
const MAX_DRAIN_MS = 2_000;

/** Most senders read no response before they have sent all: what is left of a short body is read and dropped first. */
function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
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
