/**
 * Starts a small HTTP proxy in front of an exchange. The proxy interferes with change streams in the ways that real
 * proxies do.
 */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Handles the exchange's response to a request for a stream or for a page. */
export type Treatment = (from: IncomingMessage, to: ServerResponse) => unknown;

export interface StreamProxy {
  url: string;
  /** The number of streams that clients have requested so far. `pages` counts the requests for pages. */
  streams: number;
  pages: number;
  /** The number of streams whose connection to the client is still open. */
  open: number;
}

/**
 * Starts the proxy. `treatmentOf` gets the number of each stream, counted from 1, and returns the treatment of the
 * stream. `rejectionOf` gets the number of each request for a stream or a page, also counted from 1. If `rejectionOf`
 * returns a treatment, the proxy uses it instead of the treatment from `treatmentOf`. If neither function returns a
 * treatment, the proxy passes the response on unchanged.
 */
export async function startProxy(
  target: string,
  treatmentOf: (stream: number) => Treatment | undefined = () => undefined,
  rejectionOf: (call: number) => Treatment | undefined = () => undefined,
): Promise<StreamProxy> {
  const proxy: StreamProxy = { url: '', streams: 0, pages: 0, open: 0 };
  const server = createServer((asked, response) => {
    const isStream = asked.method === 'GET' && asked.url!.includes('changes:watch');
    const isPage = asked.method === 'GET' && asked.url!.includes('/changes?');
    if (isPage) proxy.pages++;
    const treatment = isStream ? treatmentOf(++proxy.streams) : undefined;
    if (isStream) proxy.open++;
    const { 'last-event-id': _, ...headers } = asked.headers;
    const upstream = request(`${target}${asked.url}`, { method: asked.method, headers });
    response.on('close', () => {
      if (isStream) proxy.open--;
      upstream.destroy();
    });
    upstream.on('error', () => response.destroy());
    upstream.on('response', async (from) => {
      const rejection = isStream || isPage ? rejectionOf(proxy.streams + proxy.pages) : undefined;
      try {
        await (rejection ?? treatment ?? passOn)(from, response);
      } catch {
        response.destroy();
      }
    });
    asked.pipe(upstream);
  });
  await listen(server);
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return proxy;
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

const begin = (from: IncomingMessage, to: ServerResponse) => to.writeHead(from.statusCode!, from.headers);

const passOn: Treatment = async (from, to) => {
  begin(from, to);
  await pipeline(from, to);
};

/** Splits a stream into whole events. */
async function* eventsOf(from: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of from.setEncoding('utf8')) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop()!;
    for (const event of events) yield `${event}\n\n`;
  }
}

/** Passes on `count` events, and then closes the connection in the middle of the next event. */
export const cutAfter =
  (count: number): Treatment =>
  async (from, to) => {
    begin(from, to);
    let passed = 0;
    for await (const event of eventsOf(from)) {
      if (passed++ < count) {
        to.write(event);
        continue;
      }
      to.write(event.slice(0, event.length / 2), () => to.destroy());
      return;
    }
  };

/**
 * Passes on `count` events, then sends the retry time and ends the stream. An exchange does the same after some
 * minutes.
 */
export const endAfter =
  (count: number): Treatment =>
  async (from, to) => {
    begin(from, to);
    let passed = 0;
    for await (const event of eventsOf(from)) {
      to.write(event);
      if (++passed === count) break;
    }
    to.end('retry: 5\n\n');
  };

/** Reads the whole response, but passes nothing on. `bufferBody` passes on only the status and the headers. */
export const buffer: Treatment = (from) => from.resume();
export const bufferBody: Treatment = (from, to) => {
  begin(from, to).flushHeaders();
  from.resume();
};

/** Passes the stream on in small pieces with pauses between them, so that no piece contains a whole change. */
export const crumble: Treatment = async (from, to) => {
  begin(from, to);
  for await (const chunk of from) {
    for (let at = 0; at < chunk.length; at += 40) {
      to.write(chunk.subarray(at, at + 40));
      await sleep(1);
    }
  }
};

/** Replies with this status and body instead of the exchange's response. */
export const reply =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): Treatment =>
  (from, to) => {
    from.destroy();
    to.writeHead(status, { 'content-type': type, ...headers }).end(body);
  };

export const cut: Treatment = (_from, to) => to.destroy();
