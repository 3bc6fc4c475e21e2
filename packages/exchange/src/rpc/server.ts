/** The gRPC server: HTTP/2 with limits, one log line per RPC, and a stop that lets running RPCs finish. */
import { constants, createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createRegistry } from '@bufbuild/protobuf';
import { createConnectRouter } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { ExchangeError } from '@measurement-exchange/contract';
import { Health, ServerReflection } from '@measurement-exchange/contract/rpc';
import { telemetry } from '@measurement-exchange/server/telemetry';
import { BodyMemory, type Pipeline, rateLimited } from '../serving/index.ts';
import { Api, INCOMING } from './api.ts';
import type { BodyLimits } from './body.ts';
import { Connections } from './connections.ts';
import type { DirectProtocol } from './direct.ts';
import { toExchangeError } from './errors.ts';
import { HealthService } from './health.ts';
import { Incoming, type Peer } from './incoming.ts';
import { filesOf, reflection } from './reflection.ts';
import { addServices } from './services.ts';
import { rejectUnknown, serveStream } from './stream.ts';
import { isPlainGrpc, serveUnary, type UnaryMethod } from './unary.ts';

export interface RpcServerOptions {
  host: string;
  /** 0 means any free port. */
  port: number;
  tls: { cert: string | Buffer; key: string | Buffer };
  pipeline: Pipeline;
  isReady: () => Promise<boolean>;
  maxMessageBytes: number;
  direct: DirectProtocol;
}

export interface RpcServer {
  /** `host:port`, as gRPC clients write it. */
  address: string;
  stop(): Promise<void>;
}

const HANDSHAKE_MS = 10_000;
const LIMITS = {
  settings: { maxConcurrentStreams: 128, maxHeaderListSize: 32 * 1024, enablePush: false },
  maxHeaderListPairs: 100,
  handshakeTimeout: HANDSHAKE_MS,
  unknownProtocolTimeout: HANDSHAKE_MS,
  // This limit is in megabytes. If a connection exceeds it, Node refuses new streams with a code that gRPC clients
  // report as RESOURCE_EXHAUSTED.
  maxSessionMemory: 128,
};
const MAX_CONNECTIONS = 4_096;

/** The services that need no authentication, because they reveal only public information. */
const OPEN_SERVICES: ReadonlySet<string> = new Set([Health.typeName, ServerReflection.typeName]);

export async function listenRpc(options: RpcServerOptions): Promise<RpcServer> {
  const { host, port, tls } = options;
  const { health, ...handlers } = createHandlers(options);
  const streams = new RpcStreams(handlers, options);
  const connections = new Connections();
  const server = createSecureServer({
    ...LIMITS,
    ...tls,
    minVersion: 'TLSv1.2',
    // Accept every client certificate in the TLS handshake. Later, the pipeline verifies the certificate against the
    // trusted roots in the database.
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('session', (session) => connections.add(session));
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const peer = connections.peerOf(stream);
    // Ignore a stream whose connection has closed, because nobody can read the response.
    if (peer !== undefined) streams.serve(stream, headers, peer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    async stop() {
      health.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.leaveAll();
      await closed;
    },
  };
}

interface Handlers {
  api: Api;
  /** Connect's handlers of all RPCs, by path. */
  connect: Map<string, UniversalHandler>;
  unary: Map<string, UnaryMethod>;
}

function createHandlers({
  pipeline,
  isReady,
  maxMessageBytes,
  direct,
}: RpcServerOptions): Handlers & { health: HealthService } {
  const api = new Api(pipeline);
  const jsonOptions: { registry?: ReturnType<typeof createRegistry> } = {};
  const router = createConnectRouter({
    // Do not compress messages, because they are mostly ciphertext.
    acceptCompression: [],
    readMaxBytes: maxMessageBytes,
    jsonOptions,
    requestGate: ({ service, values }) =>
      OPEN_SERVICES.has(service.typeName) ? undefined : api.authenticate(values.get(INCOMING)),
  });
  const unary = addServices(router, api, direct);
  const served = [...new Set(router.handlers.map(({ service }) => service))];
  const all = [...served, Health, ServerReflection];
  // Register the types of all messages that an Any can hold, because Connect's JSON needs these types.
  jsonOptions.registry = createRegistry(...filesOf(all.map(({ file }) => file)));
  const health = new HealthService(
    isReady,
    all.map(({ typeName }) => typeName),
  );
  router.service(Health, health.implementation()).service(ServerReflection, reflection(all));
  const connect = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return { api, connect, unary, health };
}

class RpcStreams {
  private readonly handlers: Handlers;
  private readonly pipeline: Pipeline;
  private readonly maxBytes: number;
  private readonly memory = new BodyMemory();

  constructor(handlers: Handlers, { pipeline, maxMessageBytes }: RpcServerOptions) {
    this.handlers = handlers;
    this.pipeline = pipeline;
    this.maxBytes = maxMessageBytes;
  }

  serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer): void {
    const incoming = new Incoming(stream, headers, peer);
    const path = headers[constants.HTTP2_HEADER_PATH] as string;
    const query = path.indexOf('?');
    const handler = this.handlers.connect.get(query < 0 ? path : path.slice(0, query));
    const span = telemetry?.open({
      name: handler?.requestPath.slice(1) ?? 'rpc',
      kind: 'server',
      attributes: { 'rpc.system': 'grpc' },
      traceparent: incoming.header('traceparent'),
    });
    const work = () => this.observed(incoming, handler);
    if (span === undefined) return void work();
    const { progress } = incoming;
    void span.run(work).then(() =>
      span.end({
        name: progress.match?.route.operation,
        attributes: { 'mex.request_id': progress.requestId, 'mex.principal': progress.principal?.name },
        failure: progress.error,
      }),
    );
  }

  private async observed(incoming: Incoming, handler: UniversalHandler | undefined): Promise<void> {
    const began = performance.now();
    const { progress, stream } = incoming;
    let held = 0;
    const grow = (bytes: number) => {
      if (!this.memory.take(senderOf(incoming), bytes)) throw rateLimited('Too many large bodies at once', 1);
      held += bytes;
    };
    try {
      if (handler === undefined) {
        progress.error = new ExchangeError('ROUTE_NOT_FOUND', 'No such RPC.');
        rejectUnknown(incoming);
      } else {
        await this.handle(incoming, handler, { maxBytes: this.maxBytes, grow });
      }
    } catch (error) {
      progress.error = toExchangeError(error);
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    } finally {
      if (held > 0) this.memory.release(senderOf(incoming), held);
    }
    const isOpen = handler !== undefined && OPEN_SERVICES.has(handler.service.typeName);
    this.pipeline.observe(progress, {
      kind: isOpen ? 'page' : 'none',
      wire: { rpc: handler === undefined ? 'unknown' : handler.requestPath.slice(1) },
      ms: performance.now() - began,
    });
  }

  private handle(incoming: Incoming, handler: UniversalHandler, limits: BodyLimits): Promise<void> {
    const { api, unary } = this.handlers;
    const method = unary.get(handler.requestPath);
    return method !== undefined && isPlainGrpc(incoming.headers)
      ? serveUnary(api, method, incoming, limits)
      : serveStream(handler, incoming, limits);
  }
}

function senderOf({ progress }: Incoming): string {
  return progress.principal?.name ?? '';
}
