/** Creates a Fastify server with all limits, one error translator, and common headers on every response. */
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
  /** The proxies whose X-Forwarded-For header is trusted, as CIDRs. */
  trustedProxies: string[] | undefined;
  /** Headers to add to every response. */
  headers?: Record<string, string>;
  limits: {
    http: Pick<ServerOptions, 'headersTimeout' | 'requestTimeout' | 'maxHeaderSize'>;
    /** How long a connection may be idle before it is closed. */
    idleMs: number;
    maxUrl: number;
    maxHeaders: number;
    maxConnections: number;
  };
  /** Describes a request for its span. */
  trace(request: FastifyRequest): TracedRequest;
  /** Called for every request, before any other hook. */
  onRequest(request: FastifyRequest): void;
  toError(error: unknown): ExchangeError;
  /** Called before the error response is sent. */
  onError(request: FastifyRequest, error: ExchangeError): undefined | Promise<void>;
  onResponse(request: FastifyRequest, reply: FastifyReply): void;
  /** Called after responding to input that never became a request. */
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
    // Don't await `undefined`: sendError must check in this same turn whether the entire request has arrived.
    return done === undefined
      ? sendError(request, reply, error)
      : done.then(() => sendError(request, reply, error));
  };
  // By default Node checks its timeouts only every 30 s. framingError checks the host, because Node's own error has no
  // body.
  const http = { ...limits.http, connectionsCheckingInterval: 1_000, requireHostHeader: false };
  const app = Fastify({
    // Fastify's log lines would contain URLs.
    logger: false,
    schemaController: NO_SCHEMAS,
    genReqId: newRequestId,
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    ...(tls ? { https: { ...http, ...tls, minVersion: 'TLSv1.2' } } : { http }),
    requestTimeout: limits.http.requestTimeout!,
    keepAliveTimeout: 60_000,
    // A caller that does not read must not keep a response in memory forever.
    connectionTimeout: limits.idleMs,
    maxRequestsPerSocket: 1_000,
    forceCloseConnections: 'idle',
    // While the server is stopping, a request on an open connection gets its normal response instead of a 503 without a
    // body.
    return503OnClosing: false,
    // The API reads the raw path, because the router would decode `%2F` and `%3A`. framingError rejects URLs that are not
    // paths.
    rewriteUrl: ({ url = '' }) => (isApiUrl(url) ? API_PREFIX : url.startsWith('/') ? url : '/'),
    // No hooks run for a URL that the router cannot parse.
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
  // Without this, Node would close a CONNECT request's connection without a response.
  app.server.on('connect', (_request, socket) => onClientError(new Error('CONNECT'), socket as Socket));
  app.server.maxConnections = limits.maxConnections;
  app.server.maxHeadersCount = limits.maxHeaders;
  app.removeAllContentTypeParsers();

  traceRequests(app, options.trace);
  app.addHook('onRequest', (request, reply, done) => {
    options.onRequest(request);
    reply.headers(everywhere).header('x-request-id', request.id);
    const malformed = framingError(request, limits.maxUrl);
    // A proxy may have read the bytes that follow as another request.
    if (malformed !== undefined) reply.header('connection', 'close');
    done(malformed);
  });
  const isStopping = watchStop(app);
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that stays open after its response would delay stopping.
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

/** Adds health and metrics pages for load balancers and Prometheus. */
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

/** Generates random bytes for 256 IDs at once, because generating them for one ID takes just as long. */
export function newRequestId(): string {
  if (drawn.length === 0) drawn = randomBytes(REQUEST_ID_BYTES * 256);
  const id = drawn.toString('hex', 0, REQUEST_ID_BYTES);
  drawn = drawn.subarray(REQUEST_ID_BYTES);
  return id;
}
