/** Calls over real HTTP, and what comes back. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonValue, parseJson } from '@measurement-exchange/contract';
import { toJson } from './requests.ts';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
  json: any;
}

/** Uses `node:http`, since `fetch` takes twice the processor time for a small request. */
const agent = new Agent({ keepAlive: true });

const PATIENCE_MS = 60_000;

/**
 * `body`: a string is sent as it is, anything else as JSON (bigints as integers). On a busy machine an exchange rejects requests
 * for lack of time; one that changed nothing is sent again, as a client would do.
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
  // It has no end.
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

/** Exact values of a reply: `JSON.parse` rounds 64-bit integers. */
export function exact(text: string): JsonValue {
  return parseJson(text);
}
