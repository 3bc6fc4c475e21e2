import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExchangeError,
  type Match,
  matchRoute,
  readRequest,
  type WhoAmI,
} from '@measurement-exchange/contract';
import { describe, expect, it, vi } from 'vitest';
import type { ChangePage } from '../database/changes.ts';
import { LastSeen } from '../database/lastSeen.ts';
import { flush } from '../observability/deferred.ts';
import { createLog } from '../observability/log.ts';
import { Metrics } from '../observability/metrics.ts';
import type { Call, Exchange } from '../operations/index.ts';
import { PageTokens } from '../operations/paging.ts';
import type { Progress } from './observe.ts';
import { Pipeline, type Transfer } from './pipeline.ts';

const ACME = { kind: 'measurementConsumer', id: 'acme', name: 'measurementConsumers/acme' } as const;
const WHO_AM_I = matchRoute('GET', '/v2alpha/whoami');
const OTHERS = matchRoute('GET', '/v2alpha/measurementConsumers/other/measurements/m1');
const WATCH = matchRoute('GET', `/v2alpha/${ACME.name}/changes:watch`);
const DEADLINE_MS = 100;

const UNUSED = { recall: () => undefined, verify: () => Promise.reject(new Error('not a token')) };
const pageTokens = new PageTokens(Buffer.alloc(32));

/** Creates a feed with one follower. The first page of the follower arrives when the test calls `start`. */
function feedOf() {
  const page = Promise.withResolvers<ChangePage>();
  const follower = {
    start: () => page.resolve({ changes: [], next: { xid: '1', seq: 1n }, ahead: undefined }),
    read: () => page.promise,
    close: vi.fn(),
  };
  return { follower, feed: { follow: () => follower, followersOf: () => 0, followers: 0 } };
}

/** Sets up a pipeline without a network. The token is the subject itself, and responses are plain values. */
function face(deadline: { deadlineMs?: number } = { deadlineMs: DEADLINE_MS }) {
  const lines: Record<string, unknown>[] = [];
  const { feed, follower } = feedOf();
  const metrics = new Metrics();
  const pipeline = new Pipeline({
    exchange: { lastSeen: new LastSeen(), feed, pageTokens } as unknown as Exchange,
    tokens: {
      async verify(subject) {
        if (subject === 'bad') throw new ExchangeError('TOKEN_INVALID', 'bad', { cause: 'it is bad' });
        return { issuer: 'https://idp.example', subject, expiresAt: 0 };
      },
      recall: () => undefined,
    },
    apiKeys: UNUSED,
    clientCertificates: UNUSED,
    principals: { resolve: async () => ACME, recall: () => undefined, invalidate() {} },
    metrics,
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    rateOf: () => ({ perSecond: 1, burst: 2 }),
    strangerRate: { perSecond: 1, burst: 2 },
    ...deadline,
  });
  const authorize = async (match: Match, subject = 'alice') => {
    const progress: Progress = { requestId: 'r1' };
    const caller = await pipeline.authenticate({ kind: 'bearer', token: subject, address: '::1' }, progress);
    return pipeline.authorize(caller, match);
  };
  return { pipeline, metrics, lines, authorize, follower };
}

const subjectOf = (resource: unknown) => (resource as WhoAmI).subject;

function transfer(change: Partial<Transfer> = {}): Transfer {
  return {
    isGone: () => false,
    gone: () => new AbortController().signal,
    read: ({ route, params }) => readRequest(route, params, '', undefined),
    ...change,
  };
}

it('runs an operation for an authorized caller', async () => {
  const { pipeline, authorize } = face();
  expect(await pipeline.run(await authorize(WHO_AM_I), transfer(), subjectOf)).toBe('alice');
});

it('does not compile a call of an operation without authentication and authorization', async () => {
  const { pipeline, authorize } = face();
  const { caller, match } = await authorize(WHO_AM_I);
  const { progress, credentials, identity, principal, leftMs } = caller;
  // TypeScript checks these functions, but the test never calls them.
  const attempts = [
    // @ts-expect-error a caller is not an authorized call
    () => pipeline.run(caller, transfer(), subjectOf),
    // @ts-expect-error an object with the same members is not an authorized call
    () => pipeline.run({ caller, match }, transfer(), subjectOf),
    // @ts-expect-error the same object does not open a stream, either
    () => pipeline.open({ caller, match }, transfer()),
    // @ts-expect-error such an object is not a caller, either
    () => pipeline.authorize({ progress, credentials, identity, principal, leftMs }, WHO_AM_I),
  ];
  expect(attempts).toHaveLength(4);
});

it('rejects bad credentials, unauthorized requests, and requests that exceed the rate limit', async () => {
  const { authorize } = face();
  await expect(authorize(WHO_AM_I, 'bad')).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
  await expect(authorize(OTHERS)).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
  // The rejected requests above must not have used up the rate limit.
  for (let i = 0; i < 2; i++) await authorize(WHO_AM_I);
  await expect(authorize(WHO_AM_I)).rejects.toMatchObject({ reason: 'RATE_LIMITED' });
});

describe('a request whose caller stops waiting', () => {
  const LATE = { reason: 'DEADLINE_EXCEEDED' };
  const leftMs = 20;

  it('is rejected with DEADLINE_EXCEEDED at that time', async () => {
    const { pipeline, authorize } = face({});
    const slow = transfer({ leftMs, read: () => sleep(1_000).then(() => transfer().read(WHO_AM_I)) });
    await expect(pipeline.run(await authorize(WHO_AM_I), slow, subjectOf)).rejects.toMatchObject(LATE);
  });

  it('does not run afterward', async () => {
    const { pipeline, authorize } = face({});
    const authorized = await authorize(WHO_AM_I);
    const read = vi.fn(transfer().read);
    const late = transfer({ leftMs: 0, read });
    await expect(pipeline.run(authorized, late, subjectOf)).rejects.toMatchObject(LATE);
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = transfer({ read: () => promise.then(() => transfer().read(WHO_AM_I)) });
    const running = Array.from({ length: 16 }, () => pipeline.run(authorized, slow, subjectOf));
    const waiting = transfer({ leftMs, read });
    await expect(pipeline.run(authorized, waiting, subjectOf)).rejects.toMatchObject(LATE);
    resolve();
    await Promise.all(running);
    expect(await pipeline.run(authorized, transfer(), subjectOf)).toBe('alice');
    expect(read).not.toHaveBeenCalled();
  });
});

it('ends a request at its deadline', async () => {
  const { pipeline, authorize } = face();
  const slow = transfer({ read: () => sleep(2 * DEADLINE_MS).then(() => transfer().read(WHO_AM_I)) });
  await expect(pipeline.run(await authorize(WHO_AM_I), slow, subjectOf)).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
  });
});

it('gives a request 9.5 s by default', async () => {
  const { pipeline, authorize } = face({});
  const authorized = await authorize(WHO_AM_I);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let isOver = false;
    const ended = pipeline
      .run(authorized, transfer({ read: () => new Promise(() => {}) }), subjectOf)
      .finally(() => {
        isOver = true;
      });
    ended.catch(() => {});
    // Stay well below 9.5 s here, because the time that authentication took is subtracted from the deadline.
    vi.advanceTimersByTime(9_000);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(500);
    await expect(ended).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' });
  } finally {
    vi.useRealTimers();
  }
});

it('logs and counts successful and failed requests', async () => {
  const { pipeline, metrics, lines, authorize } = face();
  const { progress } = (await authorize(WHO_AM_I)).caller;
  pipeline.observe(progress, { kind: 'none', wire: { method: 'GET', status: 200 }, ms: 1.234 });
  const error = new ExchangeError('INTERNAL', 'Sorry.', { cause: new Error('disk full') });
  pipeline.observe({ requestId: 'r2', error }, { kind: 'page', wire: { status: 500 }, ms: 2 });
  pipeline.observe({ requestId: 'r3', error }, { kind: 'none', wire: { status: 500 } });
  flush();
  expect(lines).toMatchObject([
    {
      ...{ level: 30, requestId: 'r1', method: 'GET', operation: 'whoAmI', name: 'whoami' },
      ...{ principal: ACME.name, status: 200, ms: 1.23 },
    },
    { level: 50, requestId: 'r2', operation: 'page', code: 'INTERNAL', error: { message: 'disk full' } },
    { level: 50, requestId: 'r3', operation: 'none' },
  ]);
  const counted = (await metrics.text()).match(/^mex_request(s_total|_seconds_sum)\{.*$/gm);
  expect(counted).toEqual([
    'mex_requests_total{operation="whoAmI",code="OK"} 1',
    'mex_requests_total{operation="page",code="INTERNAL"} 1',
    'mex_request_seconds_sum{operation="whoAmI"} 0.001234',
    'mex_request_seconds_sum{operation="page"} 0.002',
  ]);
});

it('logs ten invalid fields, all findings, the reason for a rejected token, and the time of the event', async () => {
  const { pipeline, lines } = face();
  const violations = Array.from({ length: 12 }, (_, i) => ({ field: `f${i}`, description: 'is wrong' }));
  const invalid = new ExchangeError('INVALID_FIELD_VALUE', 'Wrong.', { violations });
  const token = new ExchangeError('TOKEN_INVALID', 'Bad.', { cause: 'exp is past' });
  const call = { findings: [{ code: 'ONE' }, { code: 'TWO' }] } as unknown as Call;
  const began = Date.now();
  pipeline.observe({ requestId: 'r1', error: invalid, call }, { kind: 'none', wire: { status: 400 }, ms: 1 });
  pipeline.observe({ requestId: 'r2', error: token }, { kind: 'none', wire: { status: 401 }, ms: 1 });
  vi.spyOn(Date, 'now').mockReturnValue(began + 3600_000);
  flush();
  vi.restoreAllMocks();
  expect(lines).toMatchObject([
    { level: 30, fields: violations.slice(0, 10).map(({ field }) => field), findings: ['ONE', 'TWO'] },
    { level: 30, code: 'UNAUTHENTICATED', reason: 'TOKEN_INVALID', why: 'exp is past' },
  ]);
  expect(lines[0]).not.toHaveProperty('why');
  for (const { time } of lines as { time: number }[]) expect(time).toBeLessThan(began + 1800_000);
});

const watching = transfer({
  read: ({ route, params }) => readRequest(route, params, 'from=OLDEST', undefined),
});

it('opens a stream that occupies no slot and does not keep the call', async () => {
  const { pipeline, metrics, authorize, follower } = face();
  follower.start();
  const authorized = await authorize(WATCH);
  const stream = await pipeline.open(authorized, watching);
  expect(stream.token).toBeTypeOf('string');
  expect(authorized.caller.progress.call).toBeUndefined();
  expect(await metrics.text()).toContain('mex_requests{state="running"} 0');
  stream.end();
  expect(follower.close).toHaveBeenCalledOnce();
});

it('closes a stream that opens after the deadline', async () => {
  const { pipeline, authorize, follower } = face();
  await expect(pipeline.open(await authorize(WATCH), watching)).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
  });
  expect(follower.close).not.toHaveBeenCalled();
  follower.start();
  await expect.poll(() => follower.close.mock.calls.length).toBe(1);
});
