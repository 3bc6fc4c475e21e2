/** Receives the request that the browser sends to this machine when the issuer redirects the browser after a login. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../signIn/addresses.ts';

/** The default redirect address. It has no port, so any free port is used. */
export const DEFAULT_REDIRECT = 'http://127.0.0.1/callback';

interface Redirect extends AsyncDisposable {
  /** The address that the issuer redirects the browser to, including the port that the local server listens on. */
  uri: string;
  received: (timeoutSeconds: number) => Promise<URL>;
}

export function redirectAddress(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' && isLoopback(url) && url.search === '' && url.hash === '') return url;
  throw new Error(`The redirect must be an address of this machine, such as ${DEFAULT_REDIRECT}.`);
}

const page = (text: string) =>
  `<!doctype html><meta charset="utf-8"><title>mex login</title><p style="font-family: sans-serif">${text}</p>`;

/**
 * Listens for the redirect until the returned object is disposed. Rejects requests without this login's state and keeps
 * waiting, so that another web page can neither forge nor end the login.
 */
export async function awaitRedirect(redirect: string, state: string): Promise<Redirect> {
  const url = redirectAddress(redirect);
  const { promise, resolve } = Promise.withResolvers<URL>();
  const listener: RequestListener = (request, response) => {
    const received = URL.parse(request.url ?? '', url);
    const isOurs = request.method === 'GET' && received?.pathname === url.pathname;
    const isExpected = isOurs && received.searchParams.get('state') === state;
    const text = isExpected
      ? 'mex has received the response. Continue in the terminal; this window can be closed.'
      : 'This is not the response to the login that mex waits for.';
    response.writeHead(isExpected ? 200 : 400, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(page(text), () => isExpected && resolve(received));
  };
  const server = createServer(listener);
  // Listen on 127.0.0.1 for `localhost`, because browsers try this address even if they try ::1 first.
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '');
  await new Promise<void>((listening, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      failed(
        new Error(`${url.host} cannot be listened at (${error.code}): give another port with --redirect.`),
      ),
    );
    server.listen(Number(url.port), host, listening);
  });
  url.port = String((server.address() as AddressInfo).port);
  return {
    uri: url.href,
    received: (timeoutSeconds) => within(promise, timeoutSeconds),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function within<T>(promise: Promise<T>, seconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, failed) => {
    const error = new Error(`The login timed out after ${seconds} s: run mex login again.`);
    timer = setTimeout(() => failed(error), seconds * 1000);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
