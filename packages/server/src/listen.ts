/** Starts and stops an HTTP server. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';

export interface Address {
  host: string;
  /** 0 means any free port. */
  port: number;
  tls: { certFile: string; keyFile: string } | undefined;
}

export interface Listening {
  url: string;
  stop(): Promise<void>;
}

const unused = () => {
  throw new Error('Bodies are read and written by the codec of the contract.');
};
/** Keeps Fastify from loading its schema compilers, which would take longer than everything else at startup. */
export const NO_SCHEMAS: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};

/** The time in which running requests must finish when the server stops. After that, their connections are closed. */
const DRAIN_MS = 8_000;

/** Starts the server that `create` returns. `create` receives the contents of the files named in `tls`. */
export async function listenAt(
  { host, port, tls }: Address,
  create: (tls: { cert: Buffer; key: Buffer } | undefined) => FastifyInstance,
): Promise<Listening> {
  const app = create(tls && { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) });
  await app.listen({ host, port });
  const bound = app.server.address() as { port: number };
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    async stop() {
      const force = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
      await app.close();
      clearTimeout(force);
    },
  };
}
