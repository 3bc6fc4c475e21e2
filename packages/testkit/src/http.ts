/** Calls over real HTTP, and what comes back. */
import { type JsonValue, parseJson } from '@measurement-exchange/contract';
import { toJson } from './requests.ts';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
  json: any;
}

/** `body`: a string is sent as it is, anything else as JSON (bigints as integers). */
export async function call(
  token: string | undefined,
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : toJson(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** Exact values of a reply: `JSON.parse` rounds 64-bit integers. */
export function exact(text: string): JsonValue {
  return parseJson(text);
}
