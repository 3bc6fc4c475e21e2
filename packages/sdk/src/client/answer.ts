/** From an HTTP answer to what a method returns or throws. */
import {
  decode,
  errorFromJson,
  type JsonValue,
  parseJsonBytes,
  type Route,
  type Violation,
} from '@measurement-exchange/contract';
import { UnexpectedAnswer } from './errors.ts';

/** The typed answer of a route; throws what the exchange refused with, or that this is no answer of an exchange. */
export function readAnswer(route: Route, response: Response, bytes: Uint8Array, now: number): unknown {
  const { status, headers } = response;
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after'), now),
  };
  const unexpected = (what: string, transient: boolean) =>
    new UnexpectedAnswer(`${route.operation}: ${what}`, { ...details, transient });

  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw unexpected('redirected elsewhere, which is not followed: set baseUrl to where it is now', false);
  }
  const body = readJson(headers.get('content-type'), bytes);
  if ('problem' in body) {
    throw unexpected(
      `the answer (${status}) is not one of an exchange: it is ${body.problem}. ` +
        'Something in between may have answered; check baseUrl and the proxies on the way',
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
  const answer = decode(route.response, body.json, violations, '', 'answer');
  if (answer !== undefined) return answer;
  const [first] = violations as [Violation];
  throw unexpected(
    `the answer does not fit this version of the SDK: ${first.field} ${first.description}`,
    false,
  );
}

function readJson(contentType: string | null, bytes: Uint8Array): { json: JsonValue } | { problem: string } {
  const mediaType = (contentType ?? 'of no type').split(';')[0]!.trim();
  if (mediaType !== 'application/json') return { problem: mediaType };
  try {
    return { json: parseJsonBytes(bytes) };
  } catch (error) {
    return { problem: `cut short or garbled (${(error as Error).message})` };
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
