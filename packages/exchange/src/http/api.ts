/** Passes API requests to the pipeline. Reads a body only after authentication, authorization, and rate limiting. */
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import {
  API_PREFIX,
  ExchangeError,
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
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import {
  type Authenticated,
  type Authorized,
  BodyMemory,
  credentialsIn,
  type OpenStream,
  type Pipeline,
  type Progress,
  type Quota,
  rateLimited,
  type Transfer,
} from '../serving/index.ts';
import { readBody } from './body.ts';
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
  authorized?: Authorized | undefined;
  bodyBytes?: number;
}

/** Matches every charset except UTF-8. JSON is always UTF-8 (RFC 8259, section 8.1). */
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i;

function registerBodies(app: FastifyInstance, bodyLimitBytes: number): void {
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
  // Release the body's memory on `close`, because `onResponse` does not run if the caller disconnects before the
  // response.
  app.addHook('onRequest', ({ method, progress }, reply, done) => {
    if (method !== 'GET') {
      reply.raw.once('close', () => {
        if (progress.bodyBytes !== undefined) memory.release(senderOf(progress), progress.bodyBytes);
      });
    }
    done();
  });
}

export function registerApi(app: FastifyInstance, { pipeline, bodyLimitBytes }: ApiOptions): void {
  registerBodies(app, bodyLimitBytes);

  function authorize(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const { progress, headers, method, originalUrl } = request;
    const proceed = (caller: Authenticated) => {
      const query = originalUrl.indexOf('?');
      const match = matchRoute(method, query < 0 ? originalUrl : originalUrl.slice(0, query));
      try {
        progress.authorized = pipeline.authorize(caller, match);
      } finally {
        if (progress.quota !== undefined) setQuota(reply, progress.quota);
      }
      if (headers['content-encoding'] !== undefined) throw unsupportedMediaType();
    };
    const caller = pipeline.authenticate(credentialsIn(headers.authorization, request.ip), progress);
    if (caller instanceof Promise) {
      caller.then(proceed).then(() => done(), done);
      return;
    }
    let rejection: Error | undefined;
    try {
      proceed(caller);
    } catch (error) {
      rejection = error as Error;
    }
    done(rejection);
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<ResponseBody> {
    const { progress } = request;
    const authorized = progress.authorized!;
    const { route } = authorized.match;
    const transfer = new HttpTransfer(request, reply);
    try {
      if (route.streams) {
        stream(request, reply, await pipeline.open(authorized, transfer));
        return '';
      }
      const body = await pipeline.run(authorized, transfer, (resource) => jsonOf(route, resource));
      const { findings } = progress.call!;
      if (findings.length > 0) reply.header('x-mex-findings', String(findings.length));
      reply.header('content-type', JSON_TYPE);
      return body;
    } catch (error) {
      throw transfer.namedFromOutside(error);
    }
  }

  const streams = new EventStreams();

  function stream(request: FastifyRequest, reply: FastifyReply, open: OpenStream): void {
    // Fastify would buffer the stream, so write the response directly.
    reply.hijack();
    const { method, progress } = request;
    // A stream lasts for minutes, so release the memory of its request.
    progress.authorized = undefined;
    const onError = (error: ExchangeError) => {
      progress.error = error;
    };
    void streams.serve(reply.raw, reply.getHeaders(), open, onError).then(() => {
      // Record the request here, because Fastify does not call `onResponse` if the client disconnected.
      if (!reply.raw.destroyed) return;
      const wire = { method, status: reply.raw.statusCode };
      pipeline.observe(progress, { kind: 'none', wire, ms: reply.elapsedTime });
    });
  }

  app.route({
    method: app.supportedMethods,
    url: API_PREFIX,
    exposeHeadRoute: false,
    onRequest: authorize,
    handler: handle,
  });
}

/** At most one body above this size is parsed per turn of the event loop. Parsing 4 MiB of JSON can take 50 ms. */
const LARGE_BODY = 256 * 1024;
let lastTurn: Promise<void> = Promise.resolve();
function separateTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

class HttpTransfer implements Transfer {
  private readonly request: FastifyRequest;
  private readonly reply: FastifyReply;
  private hungUp: AbortSignal | undefined;
  private wrapper = '';

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.reply = reply;
  }

  isGone(): boolean {
    return this.request.raw.socket.destroyed;
  }

  gone(): AbortSignal {
    if (this.hungUp === undefined) {
      const hungUp = new AbortController();
      if (this.isGone()) hungUp.abort();
      // Listen for `close` on the response, not on the connection: a keep-alive connection stays open after the
      // response.
      this.reply.raw.once('close', () => hungUp.abort());
      this.hungUp = hungUp.signal;
    }
    return this.hungUp;
  }

  read(match: Match): RequestOf<Operation> | Promise<RequestOf<Operation>> {
    const isLarge = (this.request.progress.bodyBytes ?? 0) > LARGE_BODY;
    return isLarge ? separateTurn().then(() => this.readNow(match)) : this.readNow(match);
  }

  private readNow({ route, params }: Match): RequestOf<Operation> {
    const { originalUrl, body, headers } = this.request;
    const at = originalUrl.indexOf('?');
    const query = at < 0 ? '' : originalUrl.slice(at + 1);
    const request = readRequest(route, params, query, parseBody(body as Buffer | undefined));
    this.wrapper = request.wrapper;
    // A client that reconnects sends its position in Last-Event-ID, which overrides the page token of the URL.
    const last = headers['last-event-id'];
    if (!route.streams || typeof last !== 'string' || last === '') return request;
    return { ...request, query: { ...request.query, pageToken: last } };
  }

  /** Prefixes the field names in an error with the name of the body member that contains the resource. */
  namedFromOutside(error: unknown): unknown {
    const isInside = error instanceof ExchangeError && error.violations.length > 0 && this.wrapper !== '';
    return isInside ? error.wrappedIn(this.wrapper) : error;
  }
}

function jsonOf({ response }: Route, resource: unknown): ResponseBody {
  return bodyOf((LISTS.has(response) ? toJsonChunks : toJsonParts)(response, resource as never));
}

const LISTS: ReadonlySet<TSchema> = new Set(
  ROUTES.map(({ response }): TSchema => response).filter((schema) => {
    const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
    return Object.values(properties)[0]?.type === 'array';
  }),
);

function parseBody(bytes: Buffer | undefined): JsonValue | undefined {
  return bytes === undefined || bytes.length === 0 ? undefined : parseJsonBytes(bytes, MAX_BODY_VALUES);
}

function setQuota(reply: FastifyReply, { limit, remaining, resetSeconds }: Quota): void {
  reply.header('ratelimit-limit', String(limit));
  reply.header('ratelimit-remaining', String(remaining));
  reply.header('ratelimit-reset', String(resetSeconds));
}

/** Returns the principal whose memory limit the body counts toward. Requests without a principal share one limit. */
function senderOf({ principal }: Progress): string {
  return principal?.name ?? '';
}
