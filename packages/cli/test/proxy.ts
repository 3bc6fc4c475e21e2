/** A proxy in front of an exchange. Tests choose which requests it passes on. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll } from 'vitest';

/**
 * How the proxy treats a request: it passes the request on, cuts the connection without a response, or responds with an
 * HTML page of its own.
 */
type Treatment = 'PASS' | 'CUT' | 'PAGE';

export interface Proxy {
  url: string;
  /**
   * Cuts every open connection. From now on, calls `treatment` with the path of each request, and treats the request
   * accordingly.
   */
  treat: (treatment: (path: string) => Treatment) => void;
  /** The number of requests that were cut since the last call of `treat`. */
  cut: number;
}

/** Starts a proxy for the tests of this file. At the start of each test, the proxy passes everything on. */
export function useProxy(exchange: () => { url: string }): Proxy {
  let treatmentOf: Parameters<Proxy['treat']>[0] = () => 'PASS';
  const server = createServer((incoming, response) => {
    const { method, headers, url } = incoming;
    const treatment = treatmentOf(url!);
    if (treatment === 'CUT') {
      proxy.cut++;
      incoming.socket.destroy();
    } else if (treatment === 'PAGE') {
      // The content type contains a control character that a terminal would obey.
      response.writeHead(200, { 'content-type': 'text/html\u009b2J' }).end('<h1>Hello</h1>');
    } else {
      const passed = request(`${exchange().url}${url}`, { method, headers }, (reply) => {
        response.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      incoming.pipe(passed);
    }
  });
  const proxy: Proxy = {
    url: '',
    cut: 0,
    treat(treatment) {
      treatmentOf = treatment;
      proxy.cut = 0;
      server.closeAllConnections();
    },
  };
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => proxy.treat(() => 'PASS'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return proxy;
}

export const CHANGES = /\/changes(\?|:|$)/;
export const STREAMS = /\/changes:watch/;
