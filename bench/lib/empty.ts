/** Yardstick: a node:http server that only sends a response as large as the exchange's response. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from './processes.ts';

export type Empty = { listen: (argument: undefined) => Promise<number>; load: (bytes: number) => void };

let body = Buffer.alloc(0);

async function listen(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function load(bytes: number): void {
  body = Buffer.alloc(bytes, 'x');
}

serve({ listen, load });
