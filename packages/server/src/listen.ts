/** Starts an HTTP server at an address. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';

export interface Address {
  host: string;
  /** 0 chooses a free port. */
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
/** Prevents Fastify from loading its schema compilers, which would take longer than the rest of the start. */
export const NO_SCHEMAS: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};

/** At a stop, connections with requests in flight are closed after this time. */
const DRAIN_MS = 8_000;

/** `create` gets the contents of the files in `tls`. */
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
