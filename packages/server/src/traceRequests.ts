/** Opens a span for each API request to a Fastify server. The span covers the work of the request's handlers. */
import { API_PREFIX } from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type SpanAttributes, telemetry } from './telemetry.ts';

export interface TracedRequest {
  operation: string | undefined;
  attributes: SpanAttributes;
  failure: unknown;
}

/**
 * Traces only API requests, because the health and metrics pages are polled often. Call this function before adding
 * other hooks, so that the span covers their work.
 */
export function traceRequests(
  app: FastifyInstance,
  describe: (request: FastifyRequest) => TracedRequest,
): void {
  if (telemetry === undefined) return;
  const { open } = telemetry;
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.originalUrl.startsWith(`${API_PREFIX}/`)) return done();
    const { traceparent } = request.headers;
    const span = open({
      name: request.method,
      kind: 'server',
      attributes: { 'http.request.method': request.method, 'mex.request_id': request.id },
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    // Use the event `close` instead of the hook `onResponse`. If the caller disconnects before the response, Node emits
    // `close`, but Fastify does not call the hook.
    reply.raw.once('close', () => {
      const { operation, attributes, failure } = describe(request);
      const status = { 'http.response.status_code': reply.raw.statusCode };
      span.end({ name: operation, attributes: { ...attributes, ...status }, failure });
    });
    span.run(done);
  });
}
