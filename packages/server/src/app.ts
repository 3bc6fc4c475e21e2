/** A Fastify server with every limit set, one translator of errors, and headers on every response. */
import { randomBytes } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { API_PREFIX, ExchangeError } from '@measurement-exchange/contract';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { COMMON_HEADERS, sendClientError } from './clientErrors.ts';
import { sendError } from './errors.ts';
import { framingError } from './framing.ts';
import { NO_SCHEMAS } from './listen.ts';
import { type TracedRequest, traceRequests } from './traceRequests.ts';

export interface AppOptions {
  tls: { cert: Buffer; key: Buffer } | undefined;
  /** Proxies whose X-Forwarded-For is believed, as CIDRs. */
  trustedProxies: string[] | undefined;
  /** Added to every response. */
  headers?: Record<string, string>;
  limits: {
    http: Pick<ServerOptions, 'headersTimeout' | 'requestTimeout' | 'maxHeaderSize'>;
    /** A connection on which nothing moves is closed after this long. */
    idleMs: number;
    maxUrl: number;
    maxHeaders: number;
    maxConnections: number;
  };
  /** The name, attributes and failure of a request, for its span. */
  trace(request: FastifyRequest): TracedRequest;
  /** Called first for every request. */
  onRequest(request: FastifyRequest): void;
  toError(error: unknown): ExchangeError;
  /** Called with the error before its response is sent. */
  onError(request: FastifyRequest, error: ExchangeError): undefined | Promise<void>;
  onResponse(request: FastifyRequest, reply: FastifyReply): void;
  /** Called after the response to bytes that never became a request. */
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
    // Without a wait, since sendError closes the connection when the request has not arrived completely.
    return done === undefined
      ? sendError(request, reply, error)
      : done.then(() => sendError(request, reply, error));
  };
  // Node looks at its timeouts only every connectionsCheckingInterval, which is 30 s by default. Its own response to a
  // missing host has no body: framingError gives ours.
  const http = { ...limits.http, connectionsCheckingInterval: 1_000, requireHostHeader: false };
  const app = Fastify({
    // The log lines of Fastify hold URLs.
    logger: false,
    schemaController: NO_SCHEMAS,
    genReqId: newRequestId,
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    ...(tls ? { https: { ...http, ...tls, minVersion: 'TLSv1.2' } } : { http }),
    requestTimeout: limits.http.requestTimeout!,
    keepAliveTimeout: 60_000,
    // A caller that does not read must not keep a response in our memory for ever.
    connectionTimeout: limits.idleMs,
    maxRequestsPerSocket: 1_000,
    forceCloseConnections: 'idle',
    // A request that still arrives on a busy connection gets a response of ours, not a bare 503.
    return503OnClosing: false,
    // The handler of the API reads the raw path: the router would decode `%2F` and `%3A` first. framingError rejects a URL
    // that is not a path.
    rewriteUrl: ({ url = '' }) => (isApiUrl(url) ? API_PREFIX : url.startsWith('/') ? url : '/'),
    // A URL that the router cannot read passes no hook.
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
  // Node would close the connection without a response.
  app.server.on('connect', (_request, socket) => onClientError(new Error('CONNECT'), socket as Socket));
  app.server.maxConnections = limits.maxConnections;
  app.server.maxHeadersCount = limits.maxHeaders;
  app.removeAllContentTypeParsers();

  traceRequests(app, options.trace);
  app.addHook('onRequest', (request, reply, done) => {
    options.onRequest(request);
    reply.headers(everywhere).header('x-request-id', request.id);
    const malformed = framingError(request, limits.maxUrl);
    // The bytes that follow may belong to a request that a proxy read differently.
    if (malformed !== undefined) reply.header('connection', 'close');
    done(malformed);
  });
  const isStopping = watchStop(app);
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that is kept alive after its response would hold up the stop.
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

/** Health and metrics, for load balancers and Prometheus. */
export function addStatusPages(
  app: FastifyInstance,
  {
    isReady,
    metrics,
  }: { isReady: () => Promise<boolean>; metrics: { contentType: string; text(): Promise<string> } },
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

/** Asking for random bytes costs the same for one ID as for hundreds. */
export function newRequestId(): string {
  if (drawn.length === 0) drawn = randomBytes(REQUEST_ID_BYTES * 256);
  const id = drawn.toString('hex', 0, REQUEST_ID_BYTES);
  drawn = drawn.subarray(REQUEST_ID_BYTES);
  return id;
}
