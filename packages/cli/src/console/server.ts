/**
 * The server of `mex console`, for one person on this machine. The server serves the page's files, forwards API calls
 * to the exchange, and runs the companion.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServedBy } from '@measurement-exchange/console/companion';
import type { ConsoleFiles } from '@measurement-exchange/console/files';
import { API_PREFIX } from '@measurement-exchange/contract';
import manifest from '../../package.json' with { type: 'json' };
import { explain } from '../terminal/output.ts';
import { readBody } from './body.ts';
import type { CompanionOptions } from './companion.ts';
import { CompanionCalls } from './companionCalls.ts';
import { forward } from './forward.ts';
import { Guard, OPEN_PATH } from './guard.ts';
import type { Identity } from './identities.ts';
import { Refusal, sendRefusal } from './refusal.ts';

export interface ConsoleOptions {
  identities: Identity[];
  files: ConsoleFiles;
  /** The port to listen on. Defaults to 0, which means any free port. */
  port?: number;
  companion?: CompanionOptions;
}

export interface RunningConsole {
  url: string;
  newLink(): string;
  stop(): Promise<void>;
}

export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  let serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  // Allow 32 KB for the request line and the headers, because a URL can contain 50 resource names.
  const server = createServer({ maxHeaderSize: 32 * 1024 }, (request, response) => {
    serve(request, response).catch((error) => sendRefusal(request, response, refusalOf(error)));
  });
  const url = await listen(server, options.port ?? 0);
  const guard = new Guard(url);
  const companions = companionsOf(options);
  serve = handlerOf(guard, options, companions);
  return {
    url,
    newLink: () => guard.newLink(),
    async stop() {
      for (const companion of companions.values()) companion.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/**
 * Listens on a random loopback address if the system has several, as Linux and Windows do. Browsers send a host's
 * cookies to all of its ports, so on 127.0.0.1 other local servers would receive the console's cookie.
 */
async function listen(server: Server, port: number): Promise<string> {
  const own = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
  const bind = async (host: string) => {
    server.listen(port, host);
    await once(server, 'listening');
  };
  await bind(own).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRNOTAVAIL') throw error;
    return bind('127.0.0.1');
  });
  const bound = server.address() as AddressInfo;
  return `http://${bound.address}:${bound.port}`;
}

function companionsOf({ identities, companion }: ConsoleOptions): Map<string, CompanionCalls> {
  return new Map(
    identities.flatMap(({ id, acting }) => (acting ? [[id, new CompanionCalls(acting, companion)]] : [])),
  );
}

function handlerOf(
  guard: Guard,
  { identities, files }: ConsoleOptions,
  companions: ReadonlyMap<string, CompanionCalls>,
) {
  const byId = new Map(identities.map((identity) => [identity.id, identity]));
  const about = JSON.stringify(describe(identities));
  const identityOf = ({ headers }: IncomingMessage): Identity => {
    const id = headers['mex-identity'] ?? (identities.length === 1 ? identities[0]!.id : undefined);
    const found = typeof id === 'string' ? byId.get(id) : undefined;
    if (found !== undefined) return found;
    throw new Refusal(403, 'IDENTITY_UNKNOWN', 'mex console was not started for this identity.');
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    guard.checkOrigin(request);
    const { pathname, searchParams } = addressOf(request);
    if (pathname === OPEN_PATH) {
      const cookie = guard.open(searchParams.get('token'));
      response.writeHead(303, {
        location: '/',
        'set-cookie': cookie,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      return void response.end();
    }
    guard.checkCookie(request);
    if (pathname.startsWith(`${API_PREFIX}/`)) return forward(identityOf(request), request, response);
    if (pathname.startsWith('/companion/')) {
      return callCompanion(
        companions.get(identityOf(request).id),
        pathname.slice('/companion/'.length),
        request,
        response,
      );
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new Refusal(405, 'METHOD_NOT_ALLOWED', 'Only GET is possible here.');
    }
    if (pathname === '/console.json') return sendJson(response, 200, about);
    if (pathname === '/docs') {
      // Redirect to the exchange, which serves the API reference.
      return void response.writeHead(302, { location: `${identities[0]!.baseUrl}/docs` }).end();
    }
    sendFile(files, pathname, request, response);
  };
}

function describe(identities: Identity[]): ServedBy {
  return {
    by: 'mex console',
    api: '',
    development: identities.some(({ isDemo }) => isDemo),
    version: manifest.version,
    identities: identities.map(({ id, principal, acting }) => ({
      id,
      principal,
      keys: acting !== undefined,
    })),
    companion: true,
  };
}

function addressOf({ url = '' }: IncomingMessage): URL {
  const address = url.startsWith('/') ? URL.parse(`http://console${url}`) : null;
  if (address !== null) return address;
  throw new Refusal(400, 'MALFORMED_REQUEST', 'The address of the request is not a path.');
}

const MAX_INPUT_BYTES = 1024 * 1024;

async function callCompanion(
  companion: CompanionCalls | undefined,
  method: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST' || !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(405, 'METHOD_NOT_ALLOWED', 'The companion is called with POST and JSON.');
  }
  if (companion === undefined) {
    throw new Refusal(
      422,
      'NO_KEYS',
      'There are no keys for this identity here: start mex console with --identity and --root.',
    );
  }
  const { status, json } = await companion.call(method, parsed(await readBody(request, MAX_INPUT_BYTES)));
  sendJson(response, status, json);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 'MALFORMED_REQUEST', 'The body is not JSON.');
  }
}

function sendJson(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(json);
}

function sendFile(
  files: ConsoleFiles,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { accept, 'accept-encoding': acceptEncoding } = request.headers;
  const found = files.respond({ path, accept, acceptEncoding: acceptEncoding?.toString() });
  if (found === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such file.');
  response.writeHead(200, { ...found.headers, 'content-length': found.body.length });
  response.end(request.method === 'HEAD' ? undefined : found.body);
}

function refusalOf(error: Error): Refusal {
  return error instanceof Refusal ? error : new Refusal(500, 'INTERNAL', explain(error));
}
