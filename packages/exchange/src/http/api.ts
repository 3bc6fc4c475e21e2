/**
 * The API under its prefix: from a well-formed request to an operation and back, in the order of the contract:
 * address limit, authentication, route and names, authorization, rate limit, body, operation.
 */
import type { IncomingMessage } from 'node:http';
import {
  API_PREFIX,
  ExchangeError,
  type JsonValue,
  type Match,
  matchRoute,
  parseJsonBytes,
  readRequest,
  toJson,
} from '@measurement-exchange/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PrincipalResolver } from '../auth/principals.ts';
import { parseBearer, type TokenVerifier, type VerifiedToken } from '../auth/tokens.ts';
import {
  authorize,
  type Call,
  type Exchange,
  type Handler,
  operations,
  type Principal,
} from '../operations/index.ts';
import { plantedBug } from '../planted.ts';
import { readBody } from './body.ts';
import { JSON_TYPE, unsupportedMediaType } from './errors.ts';
import { RateLimiter } from './limits.ts';
import type { Metrics } from './metrics.ts';

export interface ApiOptions {
  exchange: Exchange;
  tokens: TokenVerifier;
  principals: PrincipalResolver;
  metrics: Metrics;
  bodyLimit: number;
  rateOf: (principal: string) => { perSecond: number; burst: number };
}

/** JSON is UTF-8 (RFC 8259, section 8.1): who says otherwise would be misread. */
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i;
const FAILED_AUTHENTICATIONS = { perSecond: 50, burst: 200 };

/** What is known of a request so far; the log line and the metrics read it. */
export interface Progress {
  match?: Match;
  principal?: Principal;
  call?: Call;
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
  const { exchange, tokens, principals, metrics } = options;
  const perPrincipal = new RateLimiter(options.rateOf);
  const perAddress = new RateLimiter(() => FAILED_AUTHENTICATIONS);

  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (OTHER_CHARSET.test(request.headers['content-type']!)) throw unsupportedMediaType();
    const bytes = await readBody(payload, options.bodyLimit);
    return bytes.length === 0 ? undefined : parseJsonBytes(bytes);
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
    const { verified, principal } = await authenticate(request);
    const { progress } = request;
    progress.principal = principal;
    const match = matchRoute(request.method, pathOf(request));
    progress.match = match;
    if (plantedBug === 'lookup-before-authorization') await lookUp(exchange, match);
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
    };
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const { match, call } = request.progress;
    const { route, params } = match!;
    const query = request.originalUrl.split('?').slice(1).join('?');
    const input = readRequest(route, params, query, request.body as JsonValue | undefined);
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
    return toJson(route.response, result as never);
  }

  app.route({
    method: app.supportedMethods,
    url: API_PREFIX,
    exposeHeadRoute: false,
    onRequest: admit,
    handler: handle,
  });
}

function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split('?', 1)[0]!;
}

/** lookup-before-authorization: who may not see a resource learns whether it is there. */
async function lookUp(exchange: Exchange, { route, params }: Match): Promise<void> {
  if (route.method !== 'GET' || Object.keys(params).length === 0) return;
  const operation = operations[route.operation as keyof typeof operations] as Handler<never>;
  await operation(exchange, undefined as never, readRequest(route, params, '', undefined) as never);
}
