/** Forwards API calls to the exchange. This code adds the token, so that the page never sees the token. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { API_PREFIX } from '@measurement-exchange/contract';
import { readBody } from './body.ts';
import type { Identity } from './identities.ts';
import { Refusal } from './refusal.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
/**
 * The headers that are forwarded from the page to the exchange. RESPONSE_HEADERS are forwarded from the exchange to the
 * page. All other headers are dropped.
 */
const REQUEST_HEADERS = ['accept', 'content-type', 'last-event-id', 'traceparent'];
const RESPONSE_HEADERS = [
  ...['content-type', 'retry-after', 'x-mex-findings', 'x-mex-mode', 'x-request-id'],
  ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
];
/** The largest request body that a production exchange can be configured to accept. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export async function forward(
  { baseUrl, token }: Pick<Identity, 'baseUrl' | 'token'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '' } = request;
  if (!METHODS.includes(method))
    throw new Refusal(405, 'METHOD_NOT_ALLOWED', `The API has no method ${method}.`);
  const url = targetOf(baseUrl, request.url!);
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const body = hasBody ? await readBody(request, MAX_BODY_BYTES) : null;
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  const send = (bearer: string) =>
    fetch(url, {
      method,
      headers: {
        ...picked(request.headers, REQUEST_HEADERS),
        'user-agent': 'mex console',
        authorization: `Bearer ${bearer}`,
      },
      body,
      redirect: 'error',
      signal: ended.signal,
    }).catch((error) => {
      throw unreachable(baseUrl, error);
    });
  const answer = await withToken(token, send);
  response.writeHead(answer.status, {
    ...picked(Object.fromEntries(answer.headers), RESPONSE_HEADERS),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  // Send the headers now, because an event stream may send its first event minutes later.
  response.flushHeaders();
  if (answer.body === null) return void response.end();
  // Ignore errors here, because either side may end the stream.
  await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => {});
}

/**
 * Returns the URL of an API call. Throws unless this URL is in the exchange's API. The check sees the final path,
 * because parsing resolves each `..`, even a percent-encoded one.
 */
export function targetOf(baseUrl: string, path: string): URL {
  const base = new URL(baseUrl);
  const url = URL.parse(`${base.origin}${base.pathname.replace(/\/$/, '')}${path}`);
  const prefix = `${base.pathname.replace(/\/$/, '')}${API_PREFIX}/`;
  if (url?.origin === base.origin && url.pathname.startsWith(prefix)) return url;
  throw new Refusal(404, 'ROUTE_NOT_FOUND', 'No operation has this path.');
}

/** Sends the request with the token. After a 401, sends it once more if the token has been renewed meanwhile. */
async function withToken(
  token: Identity['token'],
  send: (bearer: string) => Promise<Response>,
): Promise<Response> {
  const bearer = await tokenOf(token);
  const answer = await send(bearer);
  if (answer.status !== 401) return answer;
  const renewed = await tokenOf(token);
  if (renewed === bearer) return answer;
  await answer.body?.cancel();
  return send(renewed);
}

/**
 * Returns the token. Throws a Refusal if there is no valid token. If the login has expired, the Refusal's message names
 * the command that signs in again.
 */
function tokenOf(token: Identity['token']): Promise<string> {
  return token().catch((error: Error) => {
    throw new Refusal(401, 'SIGN_IN_EXPIRED', error.message);
  });
}

function picked(headers: NodeJS.Dict<string | string[]>, names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}

function unreachable(baseUrl: string, error: Error & { cause?: { code?: string } }): Error {
  const why = error.cause?.code ?? error.message;
  return new Refusal(503, 'UNREACHABLE', `The exchange ${baseUrl} cannot be reached (${why}).`);
}
