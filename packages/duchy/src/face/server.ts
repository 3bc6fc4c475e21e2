/** The `face`: a duchy's HTTP server, which receives uploads from providers and messages from other duchies. */
import { API_PREFIX, cut, ExchangeError, isId, isName } from '@measurement-exchange/contract';
import { createApp } from '@measurement-exchange/server/app';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Duchy } from '../computations/context.ts';
import type { FaceLimits } from '../config/config.ts';
import { limitConnections } from './connections.ts';
import { drain, toExchangeError } from './errors.ts';
import { receiveMessage } from './messages.ts';
import { createSignatureCheck } from './signed.ts';
import { Failures, Slots, Turns } from './slots.ts';
import { receiveUpload } from './uploads.ts';

export interface FaceOptions {
  duchy: Duchy;
  limits: FaceLimits;
  tls: { cert: Buffer; key: Buffer } | undefined;
  trustedProxies: string[] | undefined;
}

const MAX_CONNECTIONS = 1_024;
/** Codes of errors that the sender caused. They count toward the limit on rejected requests. */
const REJECTED: readonly string[] = ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND'];

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the operation in the log and the metrics. */
    operation: string;
    failure: ExchangeError | undefined;
  }
}

export function createFace({ duchy, limits, tls, trustedProxies = [] }: FaceOptions): FastifyInstance {
  const { metrics } = duchy;
  const requestTimeout = limits.uploadSeconds * 1000;
  const rejected = new Failures(limits.rejectedPerMinute, 'requests of this address');
  const app = createApp({
    ...{ tls, trustedProxies, toError: toExchangeError },
    limits: {
      http: {
        headersTimeout: Math.min(10_000, requestTimeout),
        requestTimeout,
        maxHeaderSize: 16 * 1024,
      },
      ...{ idleMs: 60_000, maxUrl: 2_000, maxHeaders: 50, maxConnections: MAX_CONNECTIONS },
    },
    trace: ({ operation, failure }) => ({ operation, attributes: { 'mex.party': duchy.name }, failure }),
    onRequest(request) {
      request.operation = 'none';
    },
    onError(request, error) {
      request.failure = error;
      if (REJECTED.includes(error.code)) rejected.count(request.ip);
      return drain(request.raw);
    },
    onResponse(request, { elapsedTime }) {
      const { operation, failure } = request;
      metrics.request(operation, failure, elapsedTime / 1000);
      if (operation !== 'page') logRequest(duchy.log, request, elapsedTime);
    },
    onClientError: (_id, error) => metrics.request('none', error, 0),
  });
  // Skip this limit if a trusted proxy is used, because all connections then come from the proxy's address.
  if (trustedProxies.length === 0) limitConnections(app.server, MAX_CONNECTIONS / 8);
  // Pass the body on unparsed, because each operation reads it while it arrives.
  app.addContentTypeParser('multipart/form-data', (_request, payload, done) => done(null, payload));
  app.decorateRequest('operation', 'none');
  app.decorateRequest('failure', undefined);
  addOperations(app, duchy, limits, rejected);
  // Load balancers request `/healthz`. A response shows only that the process is running.
  const page = {
    onRequest: async (request: FastifyRequest) => {
      request.operation = 'page';
    },
  };
  app.get('/healthz', page, () => ({ status: 'ok' }));
  return app;
}

function addOperations(app: FastifyInstance, duchy: Duchy, limits: FaceLimits, rejected: Failures): void {
  const newSlots = () => new Slots({ most: limits.uploads, mostOfParty: limits.uploadsPerParty });
  // Give uploads and messages separate slots, so that slow providers cannot block messages from other duchies.
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
}

/**
 * Parses `dataProviders/…/requisitions/…:fulfill` or `computations/…:advance`. Throws for any other path, including one
 * with percent-encoded characters.
 */
function targetOf(url: string): { name: string; verb: 'fulfill' | 'advance' } {
  const [, path = '', verb] = /^\/[^/]+\/([^:?]+):(fulfill|advance)$/.exec(url) ?? [];
  if (verb === 'fulfill' && isName('requisition', path)) return { name: path, verb };
  const [collection, id = '', ...more] = path.split('/');
  if (verb === 'advance' && collection === 'computations' && isId(id) && more.length === 0) {
    return { name: id, verb };
  }
  throw new ExchangeError('ROUTE_NOT_FOUND', 'No operation has this path.');
}

function logRequest(log: Logger, request: FastifyRequest, ms: number): void {
  const { id, operation, failure, originalUrl, ip } = request;
  const line = { requestId: id, operation, path: cut(originalUrl, 200), ip, ms: Math.round(ms) };
  const { code, reason, message, cause } = failure ?? {};
  const detail = cause instanceof Error && { cause: cause.message };
  const why = failure && { code, reason, why: message, ...detail };
  if (code === 'INTERNAL') {
    log.error({ ...line, ...why, stack: (cause as Error | undefined)?.stack }, 'request');
  } else {
    log.info({ ...line, ...why }, 'request');
  }
}
