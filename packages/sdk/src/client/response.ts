/** Turns an HTTP response into what a method returns or throws. */
import {
  decode,
  errorFromJson,
  type JsonValue,
  parseJsonBytes,
  type Route,
  type Violation,
} from '@measurement-exchange/contract';
import { UnexpectedResponse } from './errors.ts';

/** The decoded response of a route; throws the exchange's error, or UnexpectedResponse for one of something else. */
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
  const violations: Violation[] = [];
  const decoded = decode(route.response, body.json, violations, '', 'response');
  if (decoded !== undefined) return decoded;
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
    return { json: parseJsonBytes(bytes) };
  } catch (error) {
    return { problem: `truncated or damaged (${(error as Error).message})` };
  }
}

function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Seconds, or a date (RFC 9110, 10.2.3), as seconds from now. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
