/**
 * The API under its prefix: from a well-formed request to an operation and back, in the order of the contract:
 * address limit, authentication, route and names, authorization, rate limit, body, admission, operation.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import {
  API_PREFIX,
  ExchangeError,
  type JsonValue,
  MAX_BODY_VALUES,
  type Match,
  matchRoute,
  parseJsonBytes,
  type Route,
  readRequest,
  toJsonParts,
} from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PrincipalResolver } from '../auth/principals.ts';
import { parseBearer, type TokenVerifier, type VerifiedToken } from '../auth/tokens.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  authorize,
  type Call,
  type Exchange,
  type Handler,
  operations,
  type Principal,
} from '../operations/index.ts';
import { RateLimiter, rateLimited } from '../serving/rate.ts';
import { Admission } from './admission.ts';
import { joinParts } from './answer.ts';
import { BodyMemory, readBody } from './body.ts';
import { JSON_TYPE, unsupportedMediaType } from './errors.ts';

export interface ApiOptions {
  exchange: Exchange;
  tokens: TokenVerifier;
  principals: PrincipalResolver;
  metrics: Metrics;
  bodyLimit: number;
  rateOf: (principal: string) => { perSecond: number; burst: number };
  /** In which a request that was received is answered, whatever happens. */
  deadlineMs?: number;
}

/**
 * The database has bounds of its own for each thing it is asked. Authentication asks it, and then the operation:
 * one after the other they would take longer than the ten seconds that a caller has to wait at most.
 */
const DEADLINE_MS = 9_500;

/** JSON is UTF-8 (RFC 8259, section 8.1): who says otherwise would be misread. */
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i;
const FAILED_AUTHENTICATIONS = { perSecond: 50, burst: 200 };

/** Reading 4 MiB of JSON takes up to 50 ms: two such bodies in one turn of the event loop would hold it up for 100. */
const LARGE_BODY = 256 * 1024;
let lastTurn: Promise<void> = Promise.resolve();
function turnOfItsOwn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/** What is known of a request so far; the log line and the metrics read it. */
export interface Progress {
  match?: Match;
  /** What is left of the deadline once the caller is known; the body may take its own time. */
  leftMs?: number;
  principal?: Principal;
  /** Of memory that its body holds. */
  bodyBytes?: number;
  call?: Call;
  /** What the operation has had written ahead. */
  written?: { resource: unknown; body: string | Buffer };
}

declare module 'fastify' {
  interface FastifyRequest {
    progress: Progress;
  }
}

export function isApiUrl(url: string): boolean {
  return url === API_PREFIX || url.startsWith(`${API_PREFIX}/`) || url.startsWith(`${API_PREFIX}?`);
}

export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  const { exchange, tokens, principals, metrics, deadlineMs = DEADLINE_MS } = options;
  const perPrincipal = new RateLimiter(options.rateOf);
  const perAddress = new RateLimiter(() => FAILED_AUTHENTICATIONS);
  const memory = new BodyMemory();
  const admission = new Admission();
  watchAdmission(metrics, admission);

  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (OTHER_CHARSET.test(request.headers['content-type']!)) throw unsupportedMediaType();
    const { progress } = request;
    return readBody(payload, options.bodyLimit, (bytes) => {
      if (payload.destroyed || !memory.take(senderOf(progress), bytes)) {
        throw rateLimited('Too many large bodies at once', 1);
      }
      progress.bodyBytes = (progress.bodyBytes ?? 0) + bytes;
    });
  });
  // Not onResponse, which a caller who hangs up before its answer never comes to.
  app.addHook('onRequest', ({ method, progress }, reply, done) => {
    if (method !== 'GET') {
      reply.raw.once('close', () => {
        if (progress.bodyBytes !== undefined) memory.release(senderOf(progress), progress.bodyBytes);
      });
    }
    done();
  });

  async function authenticate(
    request: FastifyRequest,
  ): Promise<{ verified: VerifiedToken; principal: Principal }> {
    const barred = perAddress.refusal(request.ip, 'Too many bad tokens from this address');
    if (barred !== undefined) throw barred;
    try {
      const verified = await tokens.verify(parseBearer(request.headers.authorization));
      return { verified, principal: await principals.resolve(verified) };
    } catch (error) {
      if (error instanceof ExchangeError && error.reason === 'TOKEN_INVALID') perAddress.take(request.ip);
      throw error;
    }
  }

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const began = performance.now();
    const { verified, principal } = await inTime(deadlineMs, authenticate(request));
    const { progress } = request;
    progress.leftMs = deadlineMs - (performance.now() - began);
    progress.principal = principal;
    const match = matchRoute(request.method, pathOf(request));
    progress.match = match;
    authorize(principal, match.route, match.params);
    const tooMany = perPrincipal.refusal(principal.name, 'Too many requests');
    if (tooMany === undefined) perPrincipal.take(principal.name);
    reply.headers(perPrincipal.headers(principal.name));
    if (tooMany !== undefined) throw tooMany;
    if (request.headers['content-encoding'] !== undefined) throw unsupportedMediaType();
    progress.call = {
      principal,
      issuer: verified.issuer,
      subject: verified.subject,
      requestId: request.id,
      findings: [],
      answer: (resource) => {
        progress.written = { resource, body: write(match.route, resource) };
        return resource;
      },
    };
  }

  function handle(request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> {
    return inTime(request.progress.leftMs!, serveInTurn(request, reply));
  }

  /** A slow sender holds no slot: its body is there by now. Nor does a slow reader: its answer is ready. */
  async function serveInTurn(request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> {
    const { name } = request.progress.principal!;
    const turn = admission.enter(name, () => request.raw.socket.destroyed);
    if (turn !== undefined) await turn;
    try {
      if ((request.progress.bodyBytes ?? 0) > LARGE_BODY) await turnOfItsOwn();
      return await serve(request, reply);
    } finally {
      admission.leave(name);
    }
  }

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> {
    const { progress } = request;
    const { call } = progress;
    const { route, params } = progress.match!;
    const query = request.originalUrl.split('?').slice(1).join('?');
    const input = readRequest(route, params, query, bodyOf(request));
    const operation = operations[route.operation as keyof typeof operations] as Handler<never>;
    const result = await operation(exchange, call!, input as never).catch((error) => {
      const wrapped = error instanceof ExchangeError && error.violations.length > 0 && input.wrapper !== '';
      throw wrapped ? error.wrappedIn(input.wrapper) : error;
    });
    if (call!.findings.length > 0) {
      reply.header('x-mex-findings', String(call!.findings.length));
      for (const finding of call!.findings) metrics.finding(finding.code);
    }
    reply.header('content-type', JSON_TYPE);
    const { written } = progress;
    return written !== undefined && written.resource === result ? written.body : write(route, result);
  }

  app.route({
    method: app.supportedMethods,
    url: API_PREFIX,
    exposeHeadRoute: false,
    onRequest: admit,
    handler: handle,
  });
}

function write(route: Route, resource: unknown): string | Buffer {
  return joinParts(toJsonParts(route.response, resource as never));
}

/** `work` goes on after the deadline, and holds its slot until it ends: it cannot be undone from here. */
function inTime<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = () =>
      reject(new ExchangeError('DEADLINE_EXCEEDED', 'The exchange took too long; the outcome is not known.'));
    const timer = setTimeout(tooLate, ms);
    const settle =
      <V>(how: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        how(value);
      };
    work.then(settle(resolve), settle(reject));
  });
}

function watchAdmission(metrics: Metrics, admission: Admission): void {
  const requests = {
    name: 'mex_requests',
    help: 'Requests that are worked on, and that wait for their turn',
    labelNames: ['state'],
  };
  metrics.watch(requests, 0, async () => [
    { labels: { state: 'running' }, value: admission.running },
    { labels: { state: 'waiting' }, value: admission.waiting },
  ]);
}

function bodyOf({ body }: FastifyRequest): JsonValue | undefined {
  const bytes = body as Buffer | undefined;
  return bytes === undefined || bytes.length === 0 ? undefined : parseJsonBytes(bytes, MAX_BODY_VALUES);
}

/** Whose memory a body takes. Where no route is, nobody is asked who they are: those are one. */
function senderOf({ principal }: Progress): string {
  return principal?.name ?? '';
}

function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split('?', 1)[0]!;
}
