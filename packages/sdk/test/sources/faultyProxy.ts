/** A proxy that breaks a server's responses as networks, load balancers, and servers do. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  query: string;
  id: string | null;
  settings: URLSearchParams;
  body: string;
}

/** Responds to a statement instead of the server, or breaks the server's response. */
export type Fault = (answer: Answer) => void | Promise<void>;

export interface Answer {
  response: ServerResponse;
  /** Sends the statement to the server, and returns the whole response. */
  fetch(): Promise<Buffer>;
}

export interface FaultyProxy {
  url: string;
  /** The fault to apply to the server's responses. With undefined, the proxy passes responses on unchanged. */
  fault: Fault | undefined;
  /** Changes the text of each statement. */
  rewrite: ((sql: string) => string) | undefined;
  seen: Seen[];
  /** Closes the port. `resume` opens the same port again. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const server = createServer({ maxHeaderSize: 4 * 1024 * 1024 }, (incoming, response) => {
    void relay(incoming, response).catch(() => response.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${port}`,
    fault: undefined,
    rewrite: undefined,
    seen: [],
    pause: close,
    resume: () => listen(port),
    stop: close,
  };

  async function relay(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(incoming.url!, target);
    const query = url.searchParams.get('query') ?? body.toString();
    const id = url.searchParams.get('query_id');
    proxy.seen.push({ query, id, settings: url.searchParams, body: body.toString() });
    if (proxy.rewrite) url.searchParams.set('query', proxy.rewrite(query));
    const forward = () => forwarded(url, incoming, body);
    if (proxy.fault && !query.startsWith('KILL')) {
      await proxy.fault({
        response,
        fetch: async () => Buffer.concat(await Array.fromAsync(await forward())),
      });
      return;
    }
    const answer = await forward();
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  }
  return proxy;
}

function forwarded(url: URL, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { 'transfer-encoding': _, ...headers } = incoming.headers;
    const outgoing = request(url, {
      method: incoming.method,
      headers: { ...headers, 'content-length': String(body.length) },
    });
    outgoing.on('response', resolve).on('error', reject).end(body);
  });
}
