import { ExchangeError } from '@measurement-exchange/contract';
import { UnexpectedResponse, Unreachable } from '@measurement-exchange/sdk/client';
import { expect, test } from 'vitest';
import { isOutage } from './exchange.ts';

const answer = (code: ExchangeError['code']) => new ExchangeError('ANY', 'no', { code });

test.each<[string, unknown]>([
  ['503', answer('UNAVAILABLE')],
  ['429', answer('RESOURCE_EXHAUSTED')],
  ['401', answer('UNAUTHENTICATED')],
  ['403', answer('PERMISSION_DENIED')],
  ['409 for a stale etag', answer('ABORTED')],
  ['504', answer('DEADLINE_EXCEEDED')],
  ['no response', new Unreachable('no')],
  ['a timeout', new DOMException('late', 'TimeoutError')],
  ['a transient error page of a proxy', new UnexpectedResponse('no', { status: 502, transient: true })],
])('isOutage is true for %s', (_what, error) => {
  expect(isOutage(error)).toBe(true);
});

test.each<[string, unknown]>([
  ['400', answer('INVALID_ARGUMENT')],
  ['404', answer('NOT_FOUND')],
  ['a state that does not allow the request', answer('FAILED_PRECONDITION')],
  ['a response that cannot be read', new UnexpectedResponse('no', { status: 200, transient: false })],
  ['a bug', new TypeError('x is not a function')],
])('isOutage is false for %s', (_what, error) => {
  expect(isOutage(error)).toBe(false);
});
