/**
 * The API under its prefix: from a well-formed request to the pipeline and back, in this order:
 * authentication, route and names, authorization, rate limit, body, admission, operation.
 */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import {
  API_PREFIX,
  type JsonValue,
  MAX_BODY_VALUES,
  type Match,
  matchRoute,
  type Operation,
  parseJsonBytes,
  type RequestOf,
  ROUTES,
  type Route,
  readRequest,
  type TSchema,
  toJsonChunks,
  toJsonParts,
} from '@measurement-exchange/contract';
import { JSON_TYPE } from '@measurement-exchange/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Authorized,
  type Credentials,
  type Pipeline,
  type Progress,
  type Quota,
  rateLimited,
  type Transfer,
  type Watch,
} from '../serving/index.ts';
import { BodyMemory, readBody } from './body.ts';
import { unsupportedMediaType } from './errors.ts';
import { EventStreams } from './eventStream.ts';
import { bodyOf, type ResponseBody } from './response.ts';

export interface ApiOptions {
  pipeline: Pipeline;
  bodyLimitBytes: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    progress: HttpProgress;
  }
}

export interface HttpProgress extends Progress {
  authorized?: Authorized;
  /** Of memory that the body holds. */
  bodyBytes?: number;
}

/** JSON is UTF-8 (RFC 8259, section 8.1): text declared as anything else would be misread. */
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i;

export function isApiUrl(url: string): boolean {
  return url === API_PREFIX || url.startsWith(`${API_PREFIX}/`) || url.startsWith(`${API_PREFIX}?`);
}

export function registerApi(app: FastifyInstance, { pipeline, bodyLimitBytes }: ApiOptions): void {
  const memory = new BodyMemory();

  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (OTHER_CHARSET.test(request.headers['content-type']!)) throw unsupportedMediaType();
    const { progress } = request;
    return readBody(payload, bodyLimitBytes, (bytes) => {
      if (payload.destroyed || !memory.take(senderOf(progress), bytes)) {
        throw rateLimited('Too many large bodies at once', 1);
      }
      progress.bodyBytes = (progress.bodyBytes ?? 0) + bytes;
    });
  });
  // Not onResponse, which does not run for a caller who hangs up before its response.
  app.addHook('onRequest', ({ method, progress }, reply, done) => {
    if (method !== 'GET') {
      reply.raw.once('close', () => {
        if (progress.bodyBytes !== undefined) memory.release(senderOf(progress), progress.bodyBytes);
      });
    }
    done();
  });

  async function authorize(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { progress, headers } = request;
    const caller = await pipeline.authenticate(credentialsOf(request), progress);
    const match = matchRoute(request.method, request.originalUrl.split('?', 1)[0]!);
    try {
      progress.authorized = pipeline.authorize(caller, match);
    } finally {
      if (progress.quota !== undefined) reply.headers(quotaHeaders(progress.quota));
    }
    if (headers['content-encoding'] !== undefined) throw unsupportedMediaType();
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<ResponseBody> {
    const { authorized } = request.progress;
    if (authorized!.match.route.streams) return stream(request, reply, authorized!);
    const body = await pipeline.run(authorized!, new JsonTransfer(request, reply, authorized!.match.route));
    const { findings } = request.progress.call!;
    if (findings.length > 0) reply.header('x-mex-findings', String(findings.length));
    reply.header('content-type', JSON_TYPE);
    return body;
  }

  const streams = new EventStreams();

  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    authorized: Authorized,
  ): Promise<ResponseBody> {
    const transfer = new WatchTransfer(request, reply, authorized.match.route);
    const watch = await pipeline.run(authorized, transfer).catch((error) => {
      transfer.isRejected = true;
      throw error;
    });
    // From here on the response is written past Fastify, which would buffer a stream.
    reply.hijack();
    const { progress } = request;
    const { match } = authorized;
    const credentials = credentialsOf(request);
    // For minutes nobody needs them.
    progress.authorized = undefined;
    progress.call = undefined;
    void streams
      .serve(reply.raw, reply.getHeaders(), watch, () => pipeline.isStillAuthorized(match, credentials))
      .then(() => {
        // Fastify says nothing of a response whose reader hung up.
        if (!reply.raw.destroyed) return;
        const { statusCode } = reply.raw;
        pipeline.observe(progress, {
          kind: 'none',
          method: request.method,
          status: statusCode,
          ms: reply.elapsedTime,
        });
      });
    return '';
  }

  app.route({
    method: app.supportedMethods,
    url: API_PREFIX,
    exposeHeadRoute: false,
    onRequest: authorize,
    handler: handle,
  });
}

/** Reading 4 MiB of JSON takes up to 50 ms: two such bodies in one turn of the event loop would hold it up for 100. */
const LARGE_BODY = 256 * 1024;
let lastTurn: Promise<void> = Promise.resolve();
function turnOfItsOwn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/** Reads requests as JSON. */
abstract class HttpTransfer<Wire> implements Transfer<Wire> {
  protected readonly request: FastifyRequest;
  protected readonly route: Route;
  private readonly reply: FastifyReply;
  private hungUp: AbortSignal | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, route: Route) {
    this.request = request;
    this.reply = reply;
    this.route = route;
  }

  isGone(): boolean {
    return this.request.raw.socket.destroyed;
  }

  gone(): AbortSignal {
    if (this.hungUp === undefined) {
      const hungUp = new AbortController();
      if (this.isGone()) hungUp.abort();
      // Of the response: its connection stays, for many more.
      this.reply.raw.once('close', () => hungUp.abort());
      this.hungUp = hungUp.signal;
    }
    return this.hungUp;
  }

  read(match: Match): RequestOf<Operation> | Promise<RequestOf<Operation>> {
    const isLarge = (this.request.progress.bodyBytes ?? 0) > LARGE_BODY;
    return isLarge ? turnOfItsOwn().then(() => this.readNow(match)) : this.readNow(match);
  }

  protected readNow({ route, params }: Match): RequestOf<Operation> {
    const { originalUrl, body } = this.request;
    const query = originalUrl.split('?').slice(1).join('?');
    return readRequest(route, params, query, parseBody(body as Buffer | undefined));
  }

  abstract write(resource: unknown): Wire;
}

class JsonTransfer extends HttpTransfer<ResponseBody> {
  write(resource: unknown): ResponseBody {
    const { response } = this.route;
    return bodyOf((LISTS.has(response) ? toJsonChunks : toJsonParts)(response, resource as never));
  }
}

/** A reader that comes again says with a header where it was, whatever its URL says. */
class WatchTransfer extends HttpTransfer<Watch> {
  /** The deadline was over: nobody will read what is opened after it. */
  isRejected = false;

  protected override readNow(match: Match): RequestOf<Operation> {
    const request = super.readNow(match) as RequestOf<'watchChanges'>;
    const last = this.request.headers['last-event-id'];
    if (typeof last !== 'string' || last === '') return request;
    return { ...request, query: { ...request.query, pageToken: last } };
  }

  write(resource: unknown): Watch {
    const watch = resource as Watch;
    if (this.isRejected) watch.close();
    return watch;
  }
}

/** The responses of lists and batches, which begin with their items. */
const LISTS: ReadonlySet<TSchema> = new Set(
  ROUTES.map(({ response }): TSchema => response).filter((schema) => {
    const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
    return Object.values(properties)[0]?.type === 'array';
  }),
);

function parseBody(bytes: Buffer | undefined): JsonValue | undefined {
  return bytes === undefined || bytes.length === 0 ? undefined : parseJsonBytes(bytes, MAX_BODY_VALUES);
}

function quotaHeaders({ limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  };
}

function credentialsOf({ headers, ip }: FastifyRequest): Credentials {
  return { authorization: headers.authorization, address: ip };
}

/** Whose memory a body takes: that of its principal. Callers of pages, who are not authenticated, share one. */
function senderOf({ principal }: Progress): string {
  return principal?.name ?? '';
}
