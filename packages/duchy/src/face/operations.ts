/** Serves a process's health and metrics endpoints on a separate address, for operators. */
import { COMMON_HEADERS, type Listening, listenAt, NO_SCHEMAS } from '@measurement-exchange/server';
import { addStatusPages } from '@measurement-exchange/server/app';
import Fastify from 'fastify';
import type { Duchy } from '../computations/context.ts';

export interface OperationsOptions {
  duchy: Pick<Duchy, 'db' | 'metrics'>;
  host: string;
  /** Port 0 means any free port. */
  port: number;
  /** Aborted when the process begins to stop. */
  stopping: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 64;

export function listenOperations({ duchy, host, port, stopping }: OperationsOptions): Promise<Listening> {
  const { db, metrics } = duchy;
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
    addStatusPages(app, async () => !stopping.aborted && db.isReachable(), metrics);
    return app;
  });
}
