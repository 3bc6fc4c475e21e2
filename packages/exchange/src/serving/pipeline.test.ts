import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExchangeError,
  type Match,
  matchRoute,
  readRequest,
  type WhoAmI,
} from '@measurement-exchange/contract';
import { expect, it, vi } from 'vitest';
import { LastSeen } from '../database/lastSeen.ts';
import { flush } from '../observability/deferred.ts';
import { createLog } from '../observability/log.ts';
import { Metrics } from '../observability/metrics.ts';
import type { Call, Exchange, Principal } from '../operations/index.ts';
import { withDeadline } from './deadline.ts';
import type { Progress } from './observe.ts';
import { type Authorized, callOf, Pipeline, type Transfer } from './pipeline.ts';
import { rateLimited } from './rateLimiter.ts';

const ACME = { kind: 'measurementConsumer', id: 'acme', name: 'measurementConsumers/acme' } as const;
const WHO_AM_I = matchRoute('GET', '/v2alpha/whoami');
const OTHERS = matchRoute('GET', '/v2alpha/measurementConsumers/other/measurements/m1');
const DEADLINE_MS = 100;

/** A face without a wire: tokens are subjects, and responses are values. */
function face(
  deadline: { deadlineMs?: number } = { deadlineMs: DEADLINE_MS },
  resolve: () => Promise<Principal> = async () => ACME,
) {
  const lines: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  const pipeline = new Pipeline({
    exchange: { lastSeen: new LastSeen() } as Exchange,
    tokens: {
      async verify(subject) {
        if (subject === 'bad') throw new ExchangeError('TOKEN_INVALID', 'bad', { cause: 'it is bad' });
        return { issuer: 'https://idp.example', subject, expiresAt: 0 };
      },
      recall: () => undefined,
    },
    principals: { resolve, recall: () => undefined, invalidate() {} },
    metrics,
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    rateOf: () => ({ perSecond: 1, burst: 2 }),
    strangerRate: { perSecond: 1, burst: 2 },
    ...deadline,
  });
  const authorize = async (match: Match, subject = 'alice') => {
    const progress: Progress = { requestId: 'r1' };
    const caller = await pipeline.authenticate(
      { authorization: `Bearer ${subject}`, address: '::1' },
      progress,
    );
    return pipeline.authorize(caller, match);
  };
  return { pipeline, metrics, lines, authorize };
}

function transfer(change: Partial<Transfer<string>> = {}): Transfer<string> {
  return {
    isGone: () => false,
    gone: () => new AbortController().signal,
    read: ({ route, params }) => readRequest(route, params, '', undefined),
    write: (resource) => (resource as WhoAmI).subject,
    ...change,
  };
}

it('runs an operation for a caller who may call it', async () => {
  const { pipeline, authorize } = face();
  expect(await pipeline.run(await authorize(WHO_AM_I), transfer())).toBe('alice');
});

it('cannot be asked to run an operation without authentication and authorization', async () => {
  const { pipeline, authorize } = face();
  const { caller, match } = await authorize(WHO_AM_I);
  const { progress, principal, token, leftMs } = caller;
  // These are compiled and never called.
  const attempts = [
    // @ts-expect-error a caller is not a call that is authorized
    () => pipeline.run(caller, transfer()),
    // @ts-expect-error an object with the same members is none, either
    () => pipeline.run({ caller, match }, transfer()),
    // @ts-expect-error nor is one a caller
    () => pipeline.authorize({ progress, principal, token, leftMs }, WHO_AM_I),
  ];
  expect(attempts).toHaveLength(3);
});

it('rejects bad credentials, what the caller may not do, and too many requests', async () => {
  const { authorize } = face();
  await expect(authorize(WHO_AM_I, 'bad')).rejects.toMatchObject({ reason: 'TOKEN_INVALID' });
  await expect(authorize(OTHERS)).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
  // What was not authorized took nothing of the rate.
  for (let i = 0; i < 2; i++) await authorize(WHO_AM_I);
  await expect(authorize(WHO_AM_I)).rejects.toMatchObject({ reason: 'RATE_LIMITED' });
});

it('looks again whether a caller may go on, and lets it where that cannot be looked up', async () => {
  let principal: () => Principal = () => ACME;
  const { pipeline, authorize } = face(undefined, async () => principal());
  const watching = await authorize(matchRoute('GET', `/v2alpha/${ACME.name}/changes:watch`));
  const isStill = (subject = 'alice') =>
    pipeline.isStillAuthorized(watching.match, { authorization: `Bearer ${subject}`, address: '::1' });
  expect([await isStill(), await isStill('bad')]).toEqual([true, false]);
  principal = () => ({ kind: 'measurementConsumer', id: 'b', name: 'measurementConsumers/b' });
  expect(await isStill()).toBe(false);
  for (const [reason, expected] of [
    ['UNAVAILABLE', true],
    ['PRINCIPAL_UNKNOWN', false],
    ['PRINCIPAL_SUSPENDED', false],
    // Who is refused so often that it is not even told why.
    ['PRINCIPAL_SUSPENDED', false],
    ['PRINCIPAL_SUSPENDED', false],
  ] as const) {
    principal = () => {
      throw new ExchangeError(reason, 'No.');
    };
    expect(await isStill()).toBe(expected);
  }
});

it('ends a request at its deadline', async () => {
  const { pipeline, authorize } = face();
  const slow = transfer({ read: () => sleep(2 * DEADLINE_MS).then(() => transfer().read(WHO_AM_I)) });
  await expect(pipeline.run(await authorize(WHO_AM_I), slow)).rejects.toMatchObject({
    reason: 'DEADLINE_EXCEEDED',
  });
});

it('gives a request 9.5 s unless told otherwise', async () => {
  const { pipeline, authorize } = face({});
  const authorized = await authorize(WHO_AM_I);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let isOver = false;
    const ended = pipeline.run(authorized, transfer({ read: () => new Promise(() => {}) })).finally(() => {
      isOver = true;
    });
    ended.catch(() => {});
    // What authentication took is gone from it.
    vi.advanceTimersByTime(9_000);
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(500);
    await expect(ended).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' });
  } finally {
    vi.useRealTimers();
  }
});

it('logs and counts what was done, and what was rejected', async () => {
  const { pipeline, metrics, lines, authorize } = face();
  const { progress } = (await authorize(WHO_AM_I)).caller;
  pipeline.observe(progress, { kind: 'none', method: 'GET', status: 200, ms: 1.234 });
  const error = new ExchangeError('INTERNAL', 'Sorry.', { cause: new Error('disk full') });
  pipeline.observe({ requestId: 'r2', error }, { kind: 'page', status: 500, ms: 2 });
  pipeline.observe({ requestId: 'r3', error }, { kind: 'none', status: 500 });
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

it('logs ten of the fields that are wrong, every finding, why a token was rejected, and the time of the event', async () => {
  const { pipeline, lines } = face();
  const violations = Array.from({ length: 12 }, (_, i) => ({ field: `f${i}`, description: 'is wrong' }));
  const invalid = new ExchangeError('INVALID_FIELD_VALUE', 'Wrong.', { violations });
  const token = new ExchangeError('TOKEN_INVALID', 'Bad.', { cause: 'exp is past' });
  const call = { findings: [{ code: 'ONE' }, { code: 'TWO' }] } as unknown as Call;
  const began = Date.now();
  pipeline.observe({ requestId: 'r1', error: invalid, call }, { kind: 'none', status: 400, ms: 1 });
  pipeline.observe({ requestId: 'r2', error: token }, { kind: 'none', status: 401, ms: 1 });
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

const MAX_STREAMS = 2;
const streams = new Map<string, number>();

/**
 * A streaming operation needs no more than this of the pipeline: a bounded number per principal, a deadline for its
 * first item, no slot, and one log line when it ends.
 */
async function* stream<T>(
  pipeline: Pipeline,
  authorized: Authorized,
  operation: (call: Call) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { progress, principal, leftMs } = authorized.caller;
  const count = (change: number) => {
    const open = (streams.get(principal.name) ?? 0) + change;
    if (open > MAX_STREAMS) throw rateLimited('Too many streams', 1);
    streams.set(principal.name, open);
  };
  count(1);
  const began = performance.now();
  const items = operation(
    callOf(authorized, {
      respond: (resource) => resource,
      compute: () => Promise.reject(),
      waitAside: () => Promise.reject(),
    }),
  );
  try {
    const first = await withDeadline(leftMs, items.next());
    if (!first.done) yield first.value;
    yield* items;
  } finally {
    count(-1);
    void items.return(undefined);
    pipeline.observe(progress, { kind: 'none', status: 200, ms: performance.now() - began });
  }
}

it('has room for streams', async () => {
  const { pipeline, metrics, lines, authorize } = face();
  let closed = false;
  const subjects = stream(pipeline, await authorize(WHO_AM_I), async function* ({ subject }) {
    try {
      for (;;) {
        yield subject;
        // Longer than any request may take.
        await sleep(2 * DEADLINE_MS);
      }
    } finally {
      closed = true;
    }
  });
  const seen: string[] = [];
  for await (const subject of subjects) {
    expect(await metrics.text()).toContain('mex_requests{state="running"} 0');
    expect(lines).toEqual([]);
    expect(streams.get(ACME.name)).toBe(1);
    seen.push(subject);
    if (seen.length === 2) break;
  }
  flush();
  expect(seen).toEqual(['alice', 'alice']);
  expect(lines).toMatchObject([{ operation: 'whoAmI', principal: ACME.name, status: 200 }]);
  expect([closed, streams.get(ACME.name)]).toEqual([true, 0]);
});

it('ends a stream that does not begin in time', async () => {
  const { pipeline, authorize } = face();
  const silent = stream(pipeline, await authorize(WHO_AM_I), async function* () {
    await sleep(2 * DEADLINE_MS);
    yield 'late';
  });
  await expect(silent.next()).rejects.toMatchObject({ reason: 'DEADLINE_EXCEEDED' });
});
