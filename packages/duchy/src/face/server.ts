/** The HTTP face of a duchy: uploads of providers and messages of other duchies. Every limit is set. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { API_PREFIX, cut, ExchangeError, isId, isName } from '@measurement-exchange/contract';
import { COMMON_HEADERS, NO_SCHEMAS, sendClientError, traceRequests } from '@measurement-exchange/server';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Duchy } from '../computations/context.ts';
import type { FaceLimits } from '../config/config.ts';
import { receiveMessage } from './advance.ts';
import { limitConnections } from './connections.ts';
import { sendError, toExchangeError } from './errors.ts';
import { createSignatureCheck } from './signed.ts';
import { Failures, Slots, Turns } from './slots.ts';
import { receiveUpload } from './upload.ts';

export interface FaceOptions {
  duchy: Duchy;
  limits: FaceLimits;
  tls: { cert: Buffer; key: Buffer } | undefined;
  trustedProxies: string[] | undefined;
}

/** Nothing moves on the connection. */
const IDLE_MS = 60_000;
const MAX_URL = 2_000;
const MAX_CONNECTIONS = 1_024;
/** The request is to blame, and would be again. */
const REJECTED: readonly string[] = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND'];

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log and the metrics. */
    operation: string;
    failure: ExchangeError | undefined;
  }
}

export function createFace(options: FaceOptions): FastifyInstance {
  const { duchy, limits, tls, trustedProxies = [] } = options;
  const { metrics } = duchy;
  const requestTimeout = limits.uploadSeconds * 1000;
  const http = {
    headersTimeout: Math.min(10_000, requestTimeout),
    requestTimeout,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  };
  const app = Fastify({
    // Its log lines hold URLs; ours hold only what is listed below.
    logger: false,
    schemaController: NO_SCHEMAS,
    genReqId: () => randomBytes(12).toString('hex'),
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    ...(tls ? { https: { ...http, ...tls, minVersion: 'TLSv1.2' } } : { http }),
    requestTimeout,
    keepAliveTimeout: IDLE_MS,
    connectionTimeout: IDLE_MS,
    maxRequestsPerSocket: 1_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // On the raw path: the router would decode `%2F` and `%3A` first.
    rewriteUrl: ({ url = '' }) => (isApiUrl(url) ? API_PREFIX : url.startsWith('/') ? url : '/'),
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...COMMON_HEADERS, 'x-request-id': request.id });
      sendError(request as FastifyRequest, reply as never, toExchangeError(error));
    },
    clientErrorHandler: ((error: Error, socket: Socket) => {
      const sent = sendClientError(error, socket, COMMON_HEADERS);
      if (sent !== undefined) metrics.request('none', sent, 0);
    }) as never,
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  // A proxy has the connections of all its clients.
  if (trustedProxies.length === 0) limitConnections(app.server, MAX_CONNECTIONS / 8);
  app.server.maxHeadersCount = 50;
  app.removeAllContentTypeParsers();
  // The body is read by its operation, while it arrives.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));
  app.decorateRequest('operation', 'none');
  app.decorateRequest('failure', undefined);

  let stopping = false;
  app.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  traceRequests(app, ({ operation, failure }) => ({
    operation,
    attributes: { 'mex.party': duchy.name },
    failure,
  }));
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(COMMON_HEADERS).header('x-request-id', request.id);
    done(framingError(request));
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that is kept alive after its response would hold up the stop.
    if (stopping) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { operation, failure } = request;
    metrics.request(operation, failure, reply.elapsedTime / 1000);
    if (operation !== 'page') logRequest(duchy.log, request, reply.elapsedTime);
    done();
  });
  const rejected = new Failures(limits.rejectedPerMinute, 'requests of this address');
  app.setErrorHandler((error, request, reply) => {
    request.failure = toExchangeError(error);
    if (REJECTED.includes(request.failure.code)) rejected.count(request.ip);
    return sendError(request, reply, request.failure);
  });
  app.setNotFoundHandler(() => {
    throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
  });

  const newSlots = () => new Slots({ most: limits.uploads, mostOfParty: limits.uploadsPerParty });
  // Providers that are slow must not keep the messages of other duchies out.
  const [uploadSlots, messageSlots] = [newSlots(), newSlots()];
  const receiving = {
    duchy,
    turns: new Turns(),
    requireSigned: createSignatureCheck(duchy),
    maxDataBytes: limits.maxDataBytes,
  };
  app.all(API_PREFIX, async (request) => {
    rejected.requireFew(request.ip);
    const { name, verb } = targetOf(request.originalUrl);
    request.operation = verb;
    if (request.method !== 'POST') {
      throw new ExchangeError('METHOD_NOT_ALLOWED', 'This path takes POST.', { metadata: { allow: 'POST' } });
    }
    return verb === 'fulfill'
      ? receiveUpload({ ...receiving, slots: uploadSlots }, name, request.raw)
      : receiveMessage({ ...receiving, slots: messageSlots }, name, request.raw);
  });
  // For load balancers: that the process lives, and nothing else about it.
  const page = {
    onRequest: async (request: FastifyRequest) => {
      request.operation = 'page';
    },
  };
  app.get('/healthz', page, () => ({ status: 'ok' }));
  return app;
}

function isApiUrl(url: string): boolean {
  return url === API_PREFIX || url.startsWith(`${API_PREFIX}/`) || url.startsWith(`${API_PREFIX}?`);
}

/** `dataProviders/…/requisitions/…:fulfill` or `computations/…:advance`; nothing in it is decoded. */
function targetOf(url: string): { name: string; verb: 'fulfill' | 'advance' } {
  const [, path = '', verb] = /^\/[^/]+\/([^:?]+):(fulfill|advance)$/.exec(url) ?? [];
  if (verb === 'fulfill' && isName('requisition', path)) return { name: path, verb };
  const [collection, id = '', ...more] = path.split('/');
  if (verb === 'advance' && collection === 'computations' && isId(id) && more.length === 0) {
    return { name: id, verb };
  }
  throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
}

/** Node keeps the first of two and drops the other: a proxy in front may have read the other one. */
const ONCE = ['content-type', 'host'];

function framingError({ raw, originalUrl }: FastifyRequest): ExchangeError | undefined {
  if (originalUrl.length > MAX_URL)
    return new ExchangeError('URI_TOO_LONG', 'The URL is above the size limit.');
  const names = raw.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const twice = ONCE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) {
    return new ExchangeError('MALFORMED_REQUEST', `The header ${twice} may come once.`);
  }
  // Node undoes chunked, and hands on what else was done to the body as it is.
  const coding = raw.headers['transfer-encoding'] ?? 'chunked';
  if (coding.toLowerCase() === 'chunked') return undefined;
  return new ExchangeError('MALFORMED_REQUEST', 'The only transfer coding is chunked.');
}

function logRequest(
  log: Logger,
  { id, operation, failure, originalUrl, ip }: FastifyRequest,
  ms: number,
): void {
  const line = { requestId: id, operation, path: cut(originalUrl, 200), ip, ms: Math.round(ms) };
  const { code, reason, message, cause } = failure ?? {};
  const why = failure && {
    code,
    reason,
    why: message,
    ...(cause instanceof Error && { cause: cause.message }),
  };
  if (code === 'INTERNAL') {
    log.error({ ...line, ...why, stack: (cause as Error | undefined)?.stack }, 'request');
  } else {
    log.info({ ...line, ...why }, 'request');
  }
}
