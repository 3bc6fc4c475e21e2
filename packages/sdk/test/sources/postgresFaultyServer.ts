/** Starts a PostgreSQL server behind a TCP proxy whose connections a test can break. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';

/**
 * How the proxy handles a connection: it passes data on, closes the connection immediately, never responds, cuts the
 * connection after a number of bytes from the server, or limits the rate of the bytes from the server.
 */
export type Treatment = 'PASS' | 'CLOSE' | 'SILENCE' | { cutAfter: number } | { bytesPerSecond: number };

export interface FaultyProxy {
  port: number;
  /** How the proxy handles new connections. */
  treatment: Treatment;
  /** The number of connections since the proxy was started. */
  connections: number;
  /** Called for each new connection. */
  onConnection: (() => void) | undefined;
  /** Cuts all open connections. */
  cut(): void;
  stop(): Promise<void>;
}

/** Starts the proxy. `url` returns the server's URL, which contains a port or a socket folder. */
export async function startProxy(url: () => string): Promise<FaultyProxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    proxy.connections++;
    proxy.onConnection?.();
    open.add(client);
    client.on('error', () => {}).on('close', () => open.delete(client));
    const { treatment } = proxy;
    if (treatment === 'CLOSE') client.destroy();
    if (typeof treatment === 'string' && treatment !== 'PASS') return;
    const upstream = connectTo(new URL(url()));
    const both = () => {
      client.destroy();
      upstream.destroy();
    };
    upstream.on('error', both).on('close', both);
    client.on('close', both).pipe(upstream);
    forward(upstream, client, treatment);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultyProxy = {
    port: (server.address() as AddressInfo).port,
    treatment: 'PASS',
    connections: 0,
    onConnection: undefined,
    cut() {
      for (const socket of open) socket.resetAndDestroy();
    },
    async stop() {
      proxy.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

function connectTo({ hostname, port }: URL): Socket {
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(Number(port || 5432), host);
}

function forward(upstream: Socket, client: Socket, treatment: Treatment): void {
  let passed = 0;
  upstream.on('data', (bytes) => {
    if (typeof treatment === 'object' && 'cutAfter' in treatment) {
      client.write(bytes.subarray(0, Math.max(0, treatment.cutAfter - passed)));
      passed += bytes.length;
      if (passed >= treatment.cutAfter) client.end();
    } else if (typeof treatment === 'object') {
      upstream.pause();
      client.write(bytes);
      setTimeout(() => upstream.resume(), (1000 * bytes.length) / treatment.bytesPerSecond);
    } else if (!client.write(bytes)) {
      upstream.pause();
      client.once('drain', () => upstream.resume());
    }
  });
}

export interface FaultyServer {
  /** The URL of the server, for a superuser. Connections to this URL bypass the proxy. */
  url: string;
  proxy: FaultyProxy;
  /** The URL through the proxy, in the form that the settings require. */
  proxied: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultyServer(): Promise<FaultyServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-warehouse-'));
  let server = await startPostgres({ dataDir });
  const proxy = await startProxy(() => server.url);
  return {
    url: server.url,
    proxy,
    proxied: `postgres://127.0.0.1:${proxy.port}/${server.connection.database}`,
    async restart() {
      await server.stop();
      server = await startPostgres({ dataDir });
    },
    async stop() {
      await proxy.stop();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
