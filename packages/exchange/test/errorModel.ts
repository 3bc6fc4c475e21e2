/** What every refusal must look like, whatever caused it: sections 1 and 6 of the contract. */
import { hostname } from 'node:os';
import { REASONS } from '@measurement-exchange/contract';
import { expect } from 'vitest';
import type { Answer } from './harness.ts';

const HTTP_OF_CODE: Record<string, number[]> = {
  // 413, 414, 415 and 431 are those of the transport.
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

/** SQL, stacks, files and hosts. */
const LEAKS = [
  /\b(?:select|insert into|delete from|relation|constraint|postgres|pg_\w+|sqlstate)\b/i,
  /\bat .+:\d+|node_modules|\.[jt]s\b|Error:/,
  /\/(?:tmp|home|root|usr|var|work|packages)\//,
  /\b127\.0\.0\.1\b|\blocalhost\b/,
  new RegExp(`\\b${hostname()}\\b`),
];

/** No refusal needs more, however much was wrong. */
const MAX_BODY = 16 * 1024;

/** The status and the reason of a refusal in the error model, `404 ROUTE_NOT_FOUND`. */
export function refusalOf(answer: Answer): string {
  const { status, headers, text, json } = answer;
  expect(status, text).toBeGreaterThanOrEqual(400);
  expect(status, text).toBeLessThan(500);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{16,}$/);
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  expect(text.length).toBeLessThan(MAX_BODY);
  for (const leak of LEAKS) expect(text).not.toMatch(leak);

  expect(Object.keys(json)).toEqual(['error']);
  const { error } = json;
  expect(Object.keys(error)).toEqual(['code', 'status', 'message', 'details']);
  expect(error.code).toBe(status);
  expect(HTTP_OF_CODE[error.status], error.status).toContain(status);
  const [info, ...others] = error.details;
  expect(Object.keys(info)).toEqual(['@type', 'reason', 'domain', 'metadata']);
  expect(info['@type']).toBe('type.googleapis.com/google.rpc.ErrorInfo');
  expect(info.domain).toBe('measurement-exchange');
  expect(Object.keys(REASONS)).toContain(info.reason);
  for (const value of Object.values(info.metadata)) expect(value).toBeTypeOf('string');
  for (const detail of others) {
    expect(detail['@type']).toMatch(/^type\.googleapis\.com\/google\.rpc\.(BadRequest|RetryInfo)$/);
  }
  return `${status} ${info.reason}`;
}

/** What of an answer may differ between two that must tell nothing apart. */
const OWN_HEADERS = /^(?:x-request-id|date|ratelimit-.*)$/;
/** These two depend on whether the body had arrived when the answer went out, not on what was asked for. */
const HOP_BY_HOP = /^(?:connection|keep-alive)$/;

/** Status, headers and body in one text: equal for answers that nobody can tell apart. */
export function fingerprint({ status, headers, text }: Answer): string {
  const telling = [...headers].filter(([name]) => !OWN_HEADERS.test(name) && !HOP_BY_HOP.test(name));
  return JSON.stringify([status, telling, text]);
}
