/**
 * Creates a Fastify server. The server enforces limits, adds common headers to every response, and sends errors in the
 * API's format.
 */
import { randomBytes } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { API_PREFIX, ExchangeError } from '@measurement-exchange/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { COMMON_HEADERS, sendClientError } from './clientErrors.ts';
import { sendError } from './errors.ts';
import { framingError } from './framing.ts';
import { NO_SCHEMAS } from './listen.ts';
import type { MetricsRegistry } from './metrics.ts';
import { type TracedRequest, traceRequests } from './traceRequests.ts';

export interface AppOptions {
  tls: { cert: Buffer; key: Buffer } | undefined;
  /** CIDRs of proxies whose X-Forwarded-For header is trusted. */
  trustedProxies: string[] | undefined;
  headers?: Record<string, string>;
  limits: {
    http: Pick<ServerOptions, 'headersTimeout' | 'requestTimeout' | 'maxHeaderSize'>;
    idleMs: number;
    maxUrl: number;
    maxHeaders: number;
    maxConnections: number;
  };
  trace(request: FastifyRequest): TracedRequest;
  onRequest(request: FastifyRequest): void;
  toError(error: unknown): ExchangeError;
  onError(request: FastifyRequest, error: ExchangeError): undefined | Promise<void>;
  onResponse(request: FastifyRequest, reply: FastifyReply): void;
  onClientError(requestId: string, error: ExchangeError): void;
}

export function createApp(options: AppOptions): FastifyInstance {
  const { limits, tls } = options;
  const everywhere = { ...COMMON_HEADERS, ...options.headers };
  const onClientError = (error: Error & { code?: string }, socket: Socket) => {
    const id = newRequestId();
    const sent = sendClientError(error, socket, { ...everywhere, 'x-request-id': id });
    if (sent !== undefined) options.onClientError(id, sent);
  };
  const respond = (request: FastifyRequest, reply: FastifyReply, thrown: unknown) => {
    const error = options.toError(thrown);
    const done = options.onError(request, error);
    // Do not await when onError is synchronous: sendError must check immediately whether the whole request has arrived.
    return done === undefined
      ? sendError(request, reply, error)
      : done.then(() => sendError(request, reply, error));
  };
  // Check timeouts every second (Node's default is 30 s). framingError checks the Host header, because Node's own error
  // response has no body.
  const http = { ...limits.http, connectionsCheckingInterval: 1_000, requireHostHeader: false };
  const app = Fastify({
    // Fastify's log is off, because its lines would contain URLs.
    logger: false,
    schemaController: NO_SCHEMAS,
    genReqId: newRequestId,
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    ...(tls ? { https: { ...http, ...tls, minVersion: 'TLSv1.2' } } : { http }),
    requestTimeout: limits.http.requestTimeout!,
    keepAliveTimeout: 60_000,
    // Close idle connections. Otherwise a response that its caller never reads would stay in memory.
    connectionTimeout: limits.idleMs,
    maxRequestsPerSocket: 1_000,
    forceCloseConnections: 'idle',
    // Respond normally to requests on open connections while the server is stopping. Fastify would send a 503 without a
    // body.
    return503OnClosing: false,
    // One handler serves all API requests and reads the raw path, because Fastify's router would decode `%2F` and
    // `%3A`. A URL that is not a path becomes `/`, and framingError rejects it.
    rewriteUrl: ({ url = '' }) => (isApiUrl(url) ? API_PREFIX : url.startsWith('/') ? url : '/'),
    // Fastify runs no hooks for a URL that its router cannot parse. So this function does the work of the onRequest and
    // onResponse hooks.
    frameworkErrors: (error, unread, reply) => {
      const request = unread as FastifyRequest;
      options.onRequest(request);
      reply.headers(everywhere).header('x-request-id', request.id);
      void Promise.resolve(respond(request, reply as never, error)).then(() =>
        options.onResponse(request, reply as never),
      );
    },
    clientErrorHandler: onClientError as never,
  });
  // Respond to CONNECT requests, because Node would close their connections without a response.
  app.server.on('connect', (_request, socket) => onClientError(new Error('CONNECT'), socket as Socket));
  app.server.maxConnections = limits.maxConnections;
  app.server.maxHeadersCount = limits.maxHeaders;
  app.removeAllContentTypeParsers();

  traceRequests(app, options.trace);
  app.addHook('onRequest', (request, reply, done) => {
    options.onRequest(request);
    reply.headers(everywhere).header('x-request-id', request.id);
    const malformed = framingError(request, limits.maxUrl);
    // Close the connection, because a proxy may treat the bytes after a malformed request as another request.
    if (malformed !== undefined) reply.header('connection', 'close');
    done(malformed);
  });
  const isStopping = watchStop(app);
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // Close the connection after this response, because an open connection would delay stopping.
    if (isStopping()) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    options.onResponse(request, reply);
    done();
  });
  app.setErrorHandler((error, request, reply) => respond(request, reply, error));
  app.setNotFoundHandler(() => {
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });
  return app;
}

export function isApiUrl(url: string): boolean {
  return url === API_PREFIX || url.startsWith(`${API_PREFIX}/`) || url.startsWith(`${API_PREFIX}?`);
}

function watchStop(app: FastifyInstance): () => boolean {
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  return () => stopping;
}

export type MetricsPage = Pick<MetricsRegistry, 'contentType' | 'text'>;

export function addStatusPages(
  app: FastifyInstance,
  isReady: () => Promise<boolean>,
  metrics: MetricsPage,
): void {
  const isStopping = watchStop(app);
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = !isStopping() && (await isReady());
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}

const REQUEST_ID_BYTES = 12;
let drawn = Buffer.alloc(0);

/** Returns a random ID. Random bytes are drawn for 256 IDs at a time, which takes no longer than a draw for one ID. */
export function newRequestId(): string {
  if (drawn.length === 0) drawn = randomBytes(REQUEST_ID_BYTES * 256);
  const id = drawn.toString('hex', 0, REQUEST_ID_BYTES);
  drawn = drawn.subarray(REQUEST_ID_BYTES);
  return id;
}
