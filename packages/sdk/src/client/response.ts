/** Converts an HTTP response to the value that a client method returns, or to the error that it throws. */
import {
  decode,
  errorFromJson,
  type JsonValue,
  parseJson,
  parseJsonBytes,
  type Route,
  type Violation,
} from '@measurement-exchange/contract';
import { UnexpectedResponse } from './errors.ts';
import type { StreamEvent } from './eventParser.ts';

const MAX_ERROR_BYTES = 1024 * 1024;
/**
 * The maximum number of JSON keys and values in a response, to limit time and memory. 64 MiB of measurements contain
 * about 600,000 keys and values.
 */
const MAX_VALUES = 2_000_000;

export async function readBody(
  route: Route,
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { status, headers, body } = response;
  const limit = response.ok ? maxBytes : Math.min(maxBytes, MAX_ERROR_BYTES);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  // Ignore errors from canceling, because nobody reads the body anymore.
  const stop = () => reader?.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    signal.throwIfAborted();
    if (done || value === undefined) return joined(chunks, length);
    length += value.length;
    if (length > limit || Number(headers.get('content-length')) > limit) break;
    chunks.push(value);
  }
  stop();
  throw new UnexpectedResponse(
    `${route.operation}: the response (${status}) is longer than ${limit} bytes, and was not read to its end`,
    { status, transient: false },
  );
}

function joined(chunks: Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * Decodes the response. Throws the error that the response contains, or UnexpectedResponse if the response is not
 * valid.
 */
export function readResponse(route: Route, response: Response, bytes: Uint8Array, now: number): unknown {
  const { status, headers } = response;
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after'), now),
  };
  const unexpected = (what: string, transient: boolean) =>
    new UnexpectedResponse(`${route.operation}: ${what}`, { ...details, transient });

  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw unexpected('redirected elsewhere, which is not followed: set baseUrl to where it is now', false);
  }
  const body = readJson(headers.get('content-type'), bytes);
  if ('problem' in body) {
    throw unexpected(
      `the response (${status}) is not one of an exchange: it is ${body.problem}. ` +
        'A proxy may have sent it: check baseUrl and the proxies in between',
      response.ok || isTransientStatus(status),
    );
  }
  if (!response.ok) {
    throw (
      errorFromJson(body.json, details) ??
      unexpected(`${status} with JSON that is not one of an exchange`, isTransientStatus(status))
    );
  }
  return decoded(route, body.json, unexpected);
}

/** Decodes an event of a stream. Throws the same errors as `readResponse`. */
export function readEvent(route: Route, { event, data = '' }: StreamEvent): unknown {
  const unexpected = (what: string, transient: boolean) =>
    new UnexpectedResponse(`${route.operation}: ${what}`, { status: 200, transient });
  let json: JsonValue;
  try {
    json = parseJson(data, MAX_VALUES, 'response');
  } catch (error) {
    throw unexpected(`an event is damaged (${(error as Error).message})`, true);
  }
  if (event !== 'error') return decoded(route, json, unexpected);
  throw errorFromJson(json) ?? unexpected('an error that is not one of an exchange', true);
}

type Unexpected = (what: string, transient: boolean) => UnexpectedResponse;

function decoded(route: Route, json: JsonValue, unexpected: Unexpected): unknown {
  const violations: Violation[] = [];
  const resource = decode(route.response, json, violations, '', 'response');
  if (resource !== undefined) return resource;
  const [first] = violations as [Violation];
  throw unexpected(
    `the response does not fit this version of the SDK: ${first.field} ${first.description}`,
    false,
  );
}

function readJson(contentType: string | null, bytes: Uint8Array): { json: JsonValue } | { problem: string } {
  const mediaType = (contentType ?? 'of no type').split(';')[0]!.trim();
  if (mediaType !== 'application/json') return { problem: mediaType };
  try {
    return { json: parseJsonBytes(bytes, MAX_VALUES, 'response') };
  } catch (error) {
    return { problem: `truncated or damaged (${(error as Error).message})` };
  }
}

function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Converts a Retry-After header, which is a number of seconds or a date (RFC 9110, 10.2.3), to seconds from now. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
