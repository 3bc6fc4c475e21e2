/** Sends calls over real HTTP and reads the replies. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonValue, parseJson } from '@measurement-exchange/contract';
import { toJson } from './requests.ts';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any part of a reply
  json: any;
}

/** `node:http` is used because `fetch` takes twice the processor time for a small request. */
const agent = new Agent({ keepAlive: true });

const PATIENCE_MS = 60_000;

/**
 * Sends a request. If `body` is a string, it is sent unchanged. If it is undefined, the request has no body. Any other
 * value is sent as JSON (bigints as integers). If a busy exchange rejects the request without changing anything, the
 * request is repeated for up to a minute, as a client would do.
 */
export async function call(...request: Parameters<typeof callOnce>): Promise<Reply> {
  const [, method, url] = request;
  for (const began = Date.now(); ; await sleep(100)) {
    const reply = await callOnce(...request);
    if (!isBusy(reply, method === 'GET' || url.endsWith(':batchGet'))) return reply;
    if (Date.now() - began > PATIENCE_MS) return reply;
  }
}

function isBusy({ status, json }: Reply, isRead: boolean): boolean {
  const message: unknown = json?.error?.message;
  if (status === 503) return typeof message === 'string' && message.endsWith(' busy: retry.');
  return status === 504 && isRead;
}

async function callOnce(
  token: string | undefined,
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const content = body === undefined ? undefined : typeof body === 'string' ? body : toJson(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      method,
      agent,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(content === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        ...headers,
      },
    });
    sent.on('response', resolve).on('error', reject).end(content);
  });
  const type = response.headers['content-type'];
  // An event stream has no end, so do not read its body.
  const isStream = type === 'text/event-stream';
  if (isStream) response.destroy();
  const text = isStream ? '' : await textOf(response);
  const isJson = type?.startsWith('application/json');
  return {
    status: response.statusCode!,
    headers: new Headers(Object.entries(response.headers) as [string, string][]),
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** Parses a reply exactly, because `JSON.parse` rounds 64-bit integers. */
export function exact(text: string): JsonValue {
  return parseJson(text);
}
