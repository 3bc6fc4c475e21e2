import { ExchangeError } from '@measurement-exchange/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { page as html, json, NOW, refused, reset, type Step, scripted } from '../../test/client/scripted.ts';
import type { ClientOptions } from './client.ts';

const parent = 'dataProviders/p';
const changeOf = (version: number) => ({
  name: parent,
  kind: 'PARTY',
  state: 'ACTIVE',
  version,
  time: '2026-11-15T08:00:00.000000Z',
});
const event = (version: number) => `id: t${version}\ndata: ${JSON.stringify(changeOf(version))}\n\n`;
const errorEvent = (error: ExchangeError) => `event: error\ndata: ${JSON.stringify(error)}\n\n`;
const pageOf = (nextPageToken: string, ...versions: number[]) =>
  json({ changes: versions.map(changeOf), nextPageToken });

const SILENCE = Symbol('nothing more, and no end');

/**
 * Creates a response that streams these pieces, one per read. A function among the pieces is called when its turn
 * comes.
 */
function stream(...pieces: (string | (() => void) | typeof SILENCE)[]): Response {
  async function* bytes() {
    for (const piece of pieces) {
      if (typeof piece === 'string') yield new TextEncoder().encode(piece);
      else if (typeof piece === 'function') piece();
      else await new Promise(() => {});
    }
  }
  const source = bytes();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/**
 * Watches changes of an exchange that sends the responses in `steps`, and then an error that ends the watch. Returns a
 * summary of the requests, changes and pauses.
 */
async function follow(steps: Step[], options: Partial<ClientOptions> = {}) {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const last = new ExchangeError('PERMISSION_DENIED', 'Over.');
  const { client, sent, slept } = scripted([...steps, refused(last)], { onWarning, ...options });
  const versions: number[] = [];
  const said: string[] = [];
  const onFollowing = () => said.push('following');
  const onRetry = () => said.push('retry');
  const error = await (async () => {
    for await (const { version } of client.watch({ parent, onFollowing, onRetry })) versions.push(version);
  })().catch((thrown: ExchangeError) => thrown.reason ?? thrown);
  const asked = sent.map(({ url }) => url.split('/changes')[1]!);
  return { versions, asked, error, warnings, slept, said };
}
const OVER = 'PERMISSION_DENIED';

describe('a watch', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const wait = (ms: number) => () => void vi.advanceTimersByTime(ms);

  it('reopens a stream that was cut with the last token', async () => {
    const { versions, asked, warnings } = await follow([
      stream('id: t0\n\n', event(1), wait(3_000)),
      stream(event(2), wait(3_000)),
      stream(wait(4_999), ':\n\n', wait(39_999), event(3), wait(39_999), ':\n\n'),
    ]);
    expect(versions).toEqual([1, 2, 3]);
    expect(asked).toEqual([':watch', ':watch?pageToken=t1', ':watch?pageToken=t2', ':watch?pageToken=t3']);
    expect(warnings).toEqual([]);
  });

  it('treats silence as a lost connection, and requests a page', async () => {
    const { asked, versions, warnings } = await follow([
      stream(event(1), wait(40_001), SILENCE),
      pageOf('t2', 2),
      stream(wait(5_001), SILENCE),
      pageOf('t2'),
      stream('id: t2\n\n', event(3), wait(2_000)),
    ]);
    expect(versions).toEqual([1, 2, 3]);
    expect(asked).toEqual([
      ':watch',
      '?pageToken=t1&waitSeconds=0',
      ':watch?pageToken=t2',
      '?pageToken=t2&waitSeconds=0',
      ':watch?pageToken=t2',
      ':watch?pageToken=t3',
    ]);
    expect(warnings).toEqual([]);
  });
});

it('a watch reopens a stream that the exchange ended after its retry time, any number of times', async () => {
  const { asked, slept, warnings } = await follow(
    Array.from({ length: 5 }, () => stream('id: t0\n\nretry: 70\n\n')),
  );
  expect(asked).toHaveLength(6);
  expect(slept).toEqual([70, 70, 70, 70, 70]);
  expect(warnings).toEqual([]);
});

it('a watch rejects with a permanent error in the stream, and continues after a transient error', async () => {
  const expired = errorEvent(new ExchangeError('CHANGE_TOKEN_EXPIRED', 'Too old.'));
  expect((await follow([stream(event(1), expired)])).error).toBe('CHANGE_TOKEN_EXPIRED');
  const unavailable = errorEvent(new ExchangeError('UNAVAILABLE', 'Later.'));
  const { error, asked, versions } = await follow([
    stream(event(1), unavailable),
    pageOf('t2', 2),
    stream(event(3), 'id: t4\ndata: {"name"\n\n'),
    pageOf('t3'),
  ]);
  expect([error, versions]).toEqual([OVER, [1, 2, 3]]);
  expect(asked.at(-1)).toBe(':watch?pageToken=t3');
});

it('a watch warns once if events are too long', async () => {
  const endless = `data: ${'x'.repeat(70_000)}`;
  const { warnings } = await follow([
    ...[stream(endless), pageOf('a'), stream(endless), pageOf('a'), stream(endless), pageOf('a')],
  ]);
  expect(warnings).toEqual([expect.stringContaining('an event is too long')]);
});

it('a watch reads pages with growing pauses while its streams are rate-limited', async () => {
  const full = () =>
    refused(new ExchangeError('RATE_LIMITED', 'Too many.', { retryAfterSeconds: 5 }), { 'retry-after': '5' });
  const { versions, slept, warnings, said } = await follow([
    ...[full(), pageOf('a', 1), full(), pageOf('b', 2), full(), pageOf('c', 3), full(), pageOf('c')],
  ]);
  expect(versions).toEqual([1, 2, 3]);
  // The pauses grow, because only a working stream resets them. A page with changes does not reset them.
  for (const [i, ms] of slept.entries()) expect(ms).toBeGreaterThanOrEqual(5_000 + 100 * 2 ** i);
  expect(said).toEqual(['retry', 'retry', 'retry', 'retry']);
  expect(warnings).toEqual([]);
});

it('a watch calls onFollowing if a stream works, and onRetry if it fails', async () => {
  const unavailable = new ExchangeError('UNAVAILABLE', 'Later.');
  const { said, slept } = await follow([
    stream('id: t0\n\n', event(1), errorEvent(unavailable)),
    refused(unavailable),
    pageOf('t1'),
    stream('id: t1\n\n', errorEvent(unavailable)),
    pageOf('t1'),
    stream('id: t1\n\n', event(2), 'retry: 70\n\n'),
  ]);
  expect(said).toEqual(['following', 'retry', 'retry', 'following', 'retry', 'following']);
  // A stream that ends with an error before its first change does not reset the pauses.
  expect(slept[2]).toBeGreaterThanOrEqual(400);
});

it('an aborted watch returns no more changes of a page, and opens no stream', async () => {
  const stop = new AbortController();
  const { client, sent } = scripted([
    refused(new ExchangeError('UNAVAILABLE', 'Later.')),
    pageOf('b', 1, 2),
    stream(event(3), SILENCE),
  ]);
  const versions: number[] = [];
  const watched = (async () => {
    for await (const { version } of client.watch({ parent, signal: stop.signal })) {
      versions.push(version);
      stop.abort(new Error('enough'));
    }
  })();
  await expect(watched).rejects.toThrow('enough');
  expect(versions).toEqual([1]);
  expect(sent).toHaveLength(2);
});

it('an aborted watch returns no more changes of a stream', async () => {
  const stop = new AbortController();
  const { client } = scripted([stream(event(1) + event(2), SILENCE)]);
  const versions: number[] = [];
  const watched = (async () => {
    for await (const { version } of client.watch({ parent, signal: stop.signal })) {
      versions.push(version);
      stop.abort(new Error('enough'));
    }
  })();
  await expect(watched).rejects.toThrow('enough');
  expect(versions).toEqual([1]);
});

it('a watch tries a stream again after an hour of pages, and warns only once', async () => {
  let now = NOW;
  const clock = { now: () => now, sleep: async () => {} };
  const proxy = () => html('no streams', 200);
  const later = (response: () => Response) => async () => {
    now += 1_800_001;
    return response();
  };
  const { asked, versions, warnings } = await follow(
    [
      ...[proxy(), pageOf('a'), proxy(), pageOf('a'), proxy(), pageOf('a')],
      later(() => pageOf('b', 1)),
      later(() => pageOf('c', 2)),
      // After an hour of pages, a single failed stream is enough to make the client read pages again.
      ...[proxy(), pageOf('c')],
      later(() => pageOf('d', 3)),
      later(() => pageOf('e', 4)),
      stream(event(5), 'retry: 70\n\n'),
    ],
    { clock },
  );
  expect(versions).toEqual([1, 2, 3, 4, 5]);
  const streams = asked.map((query) => query.startsWith(':watch'));
  expect(streams.slice(6)).toEqual([false, false, true, false, false, false, true, true]);
  expect(warnings).toHaveLength(1);
});

it('a watch reduces waitSeconds if connections are lost before a page arrives', async () => {
  let now = NOW;
  const clock = { now: () => now, sleep: async () => {} };
  const after = (seconds: number, response: () => Response) => async () => {
    now += seconds * 1000;
    return response();
  };
  const lost = () => {
    throw reset();
  };
  const proxy = () => html('no streams', 200);
  const { asked, warnings } = await follow(
    [
      ...[proxy(), pageOf('a'), proxy(), pageOf('a'), proxy(), pageOf('a')],
      after(10, lost),
      after(10, lost),
      after(7, () => pageOf('a')),
      after(0, lost),
    ],
    { clock },
  );
  const waits = asked.map((query) => new URLSearchParams(query).get('waitSeconds'));
  expect(waits.slice(6)).toEqual(['25', '13', '7', '8', '8']);
  expect(warnings).toHaveLength(1);
});

it('a watch opens a stream with a new token if the old one has expired', async () => {
  const tokens = ['old', 'new', 'new'];
  const { client, sent } = scripted(
    [refused(new ExchangeError('TOKEN_INVALID', 'Expired.')), stream(event(1), SILENCE)],
    { token: () => tokens.shift()! },
  );
  for await (const { version } of client.watch({ parent })) {
    expect(version).toBe(1);
    break;
  }
  expect(sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});
