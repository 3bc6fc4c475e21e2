/** The HTTP face: Fastify with every limit set, one error translator, one log line for each request. */
import { randomBytes } from 'node:crypto';
import { METHODS, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { API_PREFIX, ExchangeError, MAX_WAIT_SECONDS } from '@measurement-exchange/contract';
import { COMMON_HEADERS, NO_SCHEMAS, sendClientError, traceRequests } from '@measurement-exchange/server';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type ApiOptions, type HttpProgress, isApiUrl, registerApi } from './api.ts';
import { sendError, toExchangeError } from './errors.ts';
import { framingError } from './framing.ts';

export interface ServerOptions extends ApiOptions {
  /** Proxies whose X-Forwarded-For is believed, as CIDRs. */
  trustedProxies: string[] | undefined;
  corsOrigins: string[];
  tls: { cert: Buffer; key: Buffer } | undefined;
  /** Added to every response. */
  headers: Record<string, string>;
  /** Whether the exchange can serve now. */
  ready: () => Promise<boolean>;
  /** For Prometheus. */
  metrics: { contentType: string; text(): Promise<string> };
  /** Further pages: documents, the development issuer. */
  pages?: (app: FastifyInstance) => void;
}

/** Node looks at its timeouts only every connectionsCheckingInterval, which is 30 s unless told otherwise. */
const HTTP = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  // Room for an 8 KiB token beside a URL of 50 names.
  maxHeaderSize: 32 * 1024,
  // Node's own response to a missing one has no body: framingError gives ours.
  requireHostHeader: false,
};

export function createServer(options: ServerOptions): FastifyInstance {
  const { pipeline, metrics } = options;
  const everywhere = { ...COMMON_HEADERS, ...options.headers };
  const headersOf = ({ id }: { id: string }) => ({ ...everywhere, 'x-request-id': id });
  const onClientError = (error: Error & { code?: string }, socket: Socket) => {
    const id = newRequestId();
    const sent = sendClientError(error, socket, headersOf({ id }));
    if (sent === undefined) return;
    pipeline.observe({ requestId: id, error: sent }, { kind: 'none', wire: { status: sent.httpStatus } });
  };
  const observe = (request: FastifyRequest, reply: { statusCode: number; elapsedTime: number }) =>
    pipeline.observe(request.progress, {
      kind: isApiUrl(request.originalUrl) ? 'none' : 'page',
      wire: { method: request.method, status: reply.statusCode },
      ms: reply.elapsedTime,
    });
  const app = Fastify({
    // Its log lines hold URLs; ours hold only what is listed below.
    logger: false,
    schemaController: NO_SCHEMAS,
    genReqId: newRequestId,
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    ...(options.tls ? { https: { ...HTTP, ...options.tls, minVersion: 'TLSv1.2' } } : { http: HTTP }),
    requestTimeout: 15_000,
    keepAliveTimeout: 60_000,
    // Nothing moves on the connection, longer than a page of changes may wait: a caller that does not read must not keep a
    // response in our memory for ever.
    connectionTimeout: (MAX_WAIT_SECONDS + 15) * 1_000,
    maxRequestsPerSocket: 1_000,
    forceCloseConnections: 'idle',
    // What still arrives on a busy connection gets a response of ours, not a bare 503.
    return503OnClosing: false,
    // Under the prefix our own table routes, on the raw path: the router would decode `%2F` and `%3A` first.
    // What is no path goes anywhere: framingError rejects it.
    rewriteUrl: ({ url = '' }) => (isApiUrl(url) ? API_PREFIX : url.startsWith('/') ? url : '/'),
    // What the router cannot read passes no hook.
    frameworkErrors: (error, unread, reply) => {
      const request = unread as FastifyRequest;
      request.progress = { requestId: request.id, error: toExchangeError(error) };
      reply.headers(headersOf(request));
      sendError(request, reply as never, request.progress.error!);
      observe(request, reply);
    },
    clientErrorHandler: onClientError as never,
  });
  // Every method that Node lets through reaches our table, which responds 405 with what is allowed.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  // To these two Node would respond by itself, with nothing.
  app.server.on('connect', (_request, socket) => onClientError(new Error('CONNECT'), socket as Socket));
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  serveInTurn(app.server);
  app.server.maxConnections = 4_096;
  app.server.maxHeadersCount = 100;
  app.removeAllContentTypeParsers();
  app.decorateRequest('progress', null as unknown as HttpProgress);

  traceRequests(app, ({ progress }) => ({
    operation: progress.match?.route.operation,
    attributes: { 'mex.principal': progress.principal?.name },
    failure: progress.error,
  }));
  app.addHook('onRequest', (request, reply, done) => {
    request.progress = { requestId: request.id };
    reply.headers(everywhere).header('x-request-id', request.id);
    const malformed = framingError(request);
    if (malformed !== undefined) return done(malformed);
    if (request.headers.origin !== undefined && allowOrigin(options.corsOrigins, request, reply)) return;
    done();
  });
  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that is kept alive after its response would hold up the stop.
    if (stopping) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply);
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    request.progress.error = toExchangeError(error);
    return sendError(request, reply, request.progress.error);
  });
  app.setNotFoundHandler((_request, _reply) => {
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });

  registerApi(app, options);
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const ready = !stopping && (await options.ready());
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  options.pages?.(app);
  return app;
}

const REQUEST_ID_BYTES = 12;
let drawn = Buffer.alloc(0);

/** Asking for random bytes costs the same for one ID as for hundreds. */
function newRequestId(): string {
  if (drawn.length === 0) drawn = randomBytes(REQUEST_ID_BYTES * 256);
  const id = drawn.toString('hex', 0, REQUEST_ID_BYTES);
  drawn = drawn.subarray(REQUEST_ID_BYTES);
  return id;
}

/**
 * Node hands over all pipelined requests as soon as it has read them: one packet held up everybody else for as long as
 * they took, and their responses stayed in memory until somebody read them. Here each begins when the response before
 * it is out.
 */
function serveInTurn(server: FastifyInstance['server']): void {
  const [begin] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (response.socket !== null) begin(request, response);
    else response.once('socket', () => setImmediate(begin, request, response));
  });
}

/** No cross-origin caller unless the operator listed it. True when this was a preflight, which has its response now. */
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
