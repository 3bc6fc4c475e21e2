/** The face at its address. */
import { readFile } from 'node:fs/promises';
import { createFace, type FaceOptions } from './server.ts';

export interface ListenOptions extends Omit<FaceOptions, 'tls'> {
  host: string;
  /** 0: any that is free. */
  port: number;
  tls: { certFile: string; keyFile: string } | undefined;
}

/** Requests in flight have this long; then their connections are closed, and their senders send again. */
const DRAIN_MS = 8_000;

export async function listen(options: ListenOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const { host, port, tls } = options;
  const app = createFace({
    ...options,
    tls: tls && { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) },
  });
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
