/** Starts and stops an HTTP server. */
import { readFile } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
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
/** Keeps Fastify from loading its schema compilers, which would take most of the startup time. */
export const NO_SCHEMAS: FastifyServerOptions['schemaController'] = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};

/** When the server stops, running requests get this much time to finish. Then the server closes their connections. */
const DRAIN_MS = 8_000;

export async function listenAt(
  { host, port, tls }: Address,
  create: (tls: { cert: Buffer; key: Buffer } | undefined) => FastifyInstance,
): Promise<Listening> {
  const app = create(tls && { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) });
  const unusedConnections = watchUnused(app.server);
  await app.listen({ host, port });
  const bound = app.server.address() as { port: number };
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    async stop() {
      const force = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
      for (const socket of unusedConnections()) socket.destroy();
      await app.close();
      clearTimeout(force);
    },
  };
}

/**
 * Returns a function that lists the connections on which no byte has arrived. Node does not treat them as idle, so they
 * would delay stopping. Clients keep such a connection if they cancel a request before it is sent.
 */
function watchUnused(server: Server): () => Socket[] {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => [...open].filter(({ bytesRead }) => bytesRead === 0);
}
