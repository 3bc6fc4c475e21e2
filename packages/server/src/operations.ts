/** Serves a process's health and metrics endpoints on a separate address, for operators. */
import Fastify from 'fastify';
import { addStatusPages, type MetricsPage } from './app.ts';
import { COMMON_HEADERS } from './clientErrors.ts';
import { type Listening, listenAt, NO_SCHEMAS } from './listen.ts';

export interface OperationsOptions {
  host: string;
  /** 0 means any free port. */
  port: number;
  isReady(): Promise<boolean>;
  metrics: MetricsPage;
}

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 64;

export function listenOperations({ host, port, isReady, metrics }: OperationsOptions): Promise<Listening> {
  return listenAt({ host, port, tls: undefined }, () => {
    const app = Fastify({
      logger: false,
      schemaController: NO_SCHEMAS,
      http: { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
      requestTimeout: TIMEOUT_MS,
      connectionTimeout: TIMEOUT_MS,
      bodyLimit: 1,
      forceCloseConnections: true,
    });
    app.server.maxConnections = MAX_CONNECTIONS;
    app.addHook('onRequest', (_request, reply, done) => {
      reply.headers(COMMON_HEADERS);
      done();
    });
    addStatusPages(app, isReady, metrics);
    return app;
  });
}
