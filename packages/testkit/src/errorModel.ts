/** Checks the form that every error response must have. */
import { hostname } from 'node:os';
import { REASONS } from '@measurement-exchange/contract';
import { expect } from 'vitest';
import type { Reply } from './exchange.ts';

const HTTP_OF_CODE: Record<string, number[]> = {
  // The statuses 413, 414, 415 and 431 come from the HTTP layer.
  INVALID_ARGUMENT: [400, 413, 414, 415, 431],
  FAILED_PRECONDITION: [400],
  UNAUTHENTICATED: [401],
  PERMISSION_DENIED: [403],
  NOT_FOUND: [404],
  ABORTED: [409],
  ALREADY_EXISTS: [409],
  RESOURCE_EXHAUSTED: [429],
  UNIMPLEMENTED: [405],
  DEADLINE_EXCEEDED: [408],
};

/** Patterns of internal details that an error must not contain: SQL, stack traces, files and hosts. */
const LEAKS = [
  /\b(?:select|insert into|delete from|relation|constraint|postgres|pg_\w+|sqlstate)\b/i,
  /\bat .+:\d+|node_modules|\.[jt]s\b|Error:/,
  /\/(?:tmp|home|root|usr|var|work|packages)\//,
  /\b127\.0\.0\.1\b|\blocalhost\b/,
  new RegExp(`\\b${hostname()}\\b`),
];

/** The limit for the length of an error response in characters, even if many fields are wrong. */
const MAX_BODY = 16 * 1024;

/**
 * Returns the status and the reason of an error, such as `404 ROUTE_NOT_FOUND`. Fails if the response does not follow
 * the error model.
 */
export function checkedErrorOf(reply: Reply): string {
  expect(errorModelProblems(reply), reply.text).toEqual([]);
  return `${reply.status} ${reply.json.error.details[0].reason}`;
}

/** Returns the ways in which a reply departs from the error model. */
export function errorModelProblems({ status, headers, text, json }: Reply): string[] {
  const problems: string[] = [];
  const want = (what: string, holds: boolean) => {
    if (!holds) problems.push(what);
  };
  const header = (name: string, wanted: string | null) =>
    want(`${name} is ${headers.get(name)}`, headers.get(name) === wanted);
  want(`status ${status}`, status >= 400 && status < 500);
  header('content-type', 'application/json; charset=utf-8');
  header('cache-control', 'no-store');
  header('x-content-type-options', 'nosniff');
  header('www-authenticate', status === 401 ? 'Bearer' : null);
  want('no x-request-id', /^[\w-]{16,}$/.test(headers.get('x-request-id') ?? ''));
  want(`${text.length} characters`, text.length < MAX_BODY);
  for (const leak of LEAKS) want(`it tells ${leak.exec(text)?.[0]}`, !leak.test(text));

  if (!hasKeys(json, 'error')) return [...problems, 'it is not the error model'];
  const { error } = json;
  if (!hasKeys(error, 'code', 'status', 'message', 'details'))
    return [...problems, 'error has other members'];
  want(`code ${error.code} under ${status}`, error.code === status);
  want(`${error.status} under ${status}`, HTTP_OF_CODE[error.status]?.includes(status) === true);
  want('no message', typeof error.message === 'string' && error.message !== '');
  const [info, ...others] = Array.isArray(error.details) ? error.details : [];
  if (!hasKeys(info, '@type', 'reason', 'domain', 'metadata')) return [...problems, 'there is no ErrorInfo'];
  want(info['@type'], info['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo');
  want(`domain ${info.domain}`, info.domain === 'measurement-exchange');
  want(`reason ${info.reason} is not in the list`, Object.hasOwn(REASONS, info.reason));
  for (const value of Object.values(info.metadata)) want('metadata is no text', typeof value === 'string');
  for (const { '@type': type } of others) {
    want(`${type}`, /^type\.googleapis\.com\/google\.rpc\.(BadRequest|RetryInfo)$/.test(type));
  }
  return problems;
}

/** Whether the object has exactly these keys in this order. */
function hasKeys(value: unknown, ...keys: string[]): boolean {
  return Object.keys(Object(value)).join() === keys.join();
}

/** Headers that are allowed to differ between two replies that must otherwise be indistinguishable. */
const OWN_HEADERS = /^(?:x-request-id|date|ratelimit-.*)$/;
/** These two headers depend only on whether the whole request body had arrived before the reply was sent. */
const HOP_BY_HOP = /^(?:connection|keep-alive)$/;

/**
 * Returns the status, the headers and the body as one text, without the headers that the patterns above match. If two
 * replies have the same text, a caller cannot distinguish them.
 */
export function fingerprint({ status, headers, text }: Reply): string {
  const telling = [...headers].filter(([name]) => !OWN_HEADERS.test(name) && !HOP_BY_HOP.test(name));
  return JSON.stringify([status, telling, text]);
}
