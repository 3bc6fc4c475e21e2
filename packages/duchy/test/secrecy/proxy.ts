/** A proxy that records the requests to a program and the program's responses. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RecordingProxy {
  url: string;
  close(): Promise<void>;
}

/**
 * Headers that the proxy does not forward. They are valid for one hop only, or would be wrong because the proxy sends
 * the body whole and uncompressed.
 */
const DROPPED = [
  'connection',
  'content-encoding',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
];

/** Starts the proxy. `onRequest` and `onResponse` get the first line with the headers, and then the body. */
export async function startProxy(
  target: string,
  onRequest: (part: Buffer) => void,
  onResponse: (part: Buffer) => void,
): Promise<RecordingProxy> {
  const server = createServer(async (request, response) => {
    try {
      const { method, url, headers } = request;
      const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
      onRequest(Buffer.from(`${method} ${url} ${JSON.stringify(headers)}`));
      onRequest(body);
      const answer = await fetch(new URL(url!, target), {
        method: method!,
        headers: kept(Object.entries(headers) as [string, string][]),
        ...(body.length > 0 && { body }),
        redirect: 'manual',
      });
      const answered = Buffer.from(await answer.arrayBuffer());
      onResponse(Buffer.from(`${answer.status} ${JSON.stringify([...answer.headers])}`));
      onResponse(answered);
      response.writeHead(answer.status, kept([...answer.headers])).end(answered);
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function kept(headers: [string, string][]): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !DROPPED.includes(name)));
}
