/** The exchange's HTTP server: a Fastify app with limits, error translation, and one log line per request. */
import { METHODS, type RequestListener } from 'node:http';
import { MAX_WAIT_SECONDS } from '@measurement-exchange/contract';
import { addStatusPages, createApp, isApiUrl, type MetricsPage } from '@measurement-exchange/server/app';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiOptions, type HttpProgress, registerApi } from './api.ts';
import { toExchangeError } from './errors.ts';

export interface ServerOptions extends ApiOptions {
  trustedProxies: string[] | undefined;
  corsOrigins: string[];
  tls: { cert: Buffer; key: Buffer } | undefined;
  headers: Record<string, string>;
  ready: () => Promise<boolean>;
  metrics: MetricsPage;
  /** Adds pages outside the API, such as the API reference and the development issuer. */
  pages?: (app: FastifyInstance) => void;
}

const LIMITS = {
  // The maximum header size leaves room for a token of 8 KiB and a URL with 50 names.
  http: { headersTimeout: 10_000, requestTimeout: 15_000, maxHeaderSize: 32 * 1024 },
  // The idle timeout must be longer than MAX_WAIT_SECONDS, because a request for changes may wait that long.
  idleMs: (MAX_WAIT_SECONDS + 15) * 1_000,
  // The maximum URL length leaves room for 50 names, which is the maximum of a batchGet request.
  maxUrl: 16 * 1024,
  maxHeaders: 100,
  maxConnections: 4_096,
};

export function createServer(options: ServerOptions): FastifyInstance {
  const { pipeline, metrics, tls, trustedProxies, headers, corsOrigins } = options;
  const app = createApp({
    ...{ tls, trustedProxies, headers, limits: LIMITS, toError: toExchangeError },
    trace: ({ progress }) => ({
      operation: progress.match?.route.operation,
      attributes: { 'mex.principal': progress.principal?.name },
      failure: progress.error,
    }),
    onRequest(request) {
      request.progress = { requestId: request.id };
    },
    onError(request, error) {
      request.progress.error = error;
      return undefined;
    },
    onResponse: (request, reply) =>
      pipeline.observe(request.progress, {
        kind: isApiUrl(request.originalUrl) ? 'none' : 'page',
        wire: { method: request.method, status: reply.statusCode },
        ms: reply.elapsedTime,
      }),
    onClientError: (requestId, error) =>
      pipeline.observe({ requestId, error }, { kind: 'none', wire: { status: error.httpStatus } }),
  });
  // Register every method that Node supports. Requests with a method that is not allowed then reach our route table,
  // which responds 405 with the allowed methods.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  // Treat a request with an unknown Expect header like any other request. By default, Node would send a response
  // without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  serveInTurn(app.server);
  app.decorateRequest('progress', null as unknown as HttpProgress);
  if (corsOrigins.length > 0) {
    app.addHook('onRequest', (request, reply, done) => {
      if (!allowOrigin(corsOrigins, request, reply)) done();
    });
  }
  registerApi(app, options);
  addStatusPages(app, options.ready, metrics);
  options.pages?.(app);
  return app;
}

/**
 * Starts a pipelined request only after the previous response was sent. By default, Node starts all requests that
 * arrive in one packet at the same time, which delays other callers and keeps the responses in memory.
 */
function serveInTurn(server: FastifyInstance['server']): void {
  const [begin] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (response.socket !== null) begin(request, response);
    else response.once('socket', () => setImmediate(begin, request, response));
  });
}

/**
 * Adds CORS headers for an allowed origin. Also responds to a preflight request, and returns true only in that case.
 */
function allowOrigin(origins: string[], request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.headers({
    'access-control-allow-origin': origin,
    vary: 'origin',
    'access-control-expose-headers': 'x-request-id, x-mex-findings, retry-after',
  });
  if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return false;
  reply.headers({
    'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
    'access-control-allow-headers': 'authorization, content-type, last-event-id, traceparent',
    'access-control-max-age': '600',
  });
  reply.code(204).send();
  return true;
}
