/**
 * Tests which uploads an agent repeats if the duchy fails, rejects uploads, sends false responses, or does not respond.
 */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { type Behavior, receive, replies } from '@measurement-exchange/testkit/fakeDuchy';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/client/clock.ts';
import type { AgentEvent } from '../../src/provider/index.ts';
import { NOW, PROVIDER } from './requisitions.ts';
import { ALPHA } from './shareShuffleRequisitions.ts';
import { CLOSED, OPEN, ORDER, responds, type ShareWorld, startShareWorld } from './shareWorld.ts';

let world: ShareWorld;
beforeAll(async () => {
  world = await startShareWorld();
});
beforeEach(() => world.begin());
afterEach(async () => expect(await world.end()).toEqual([]));
afterAll(() => world.stop());

/** Temporary failures, after which an upload is repeated. */
const FAILURES: [string, Behavior][] = [
  ['hangs up', (request) => void request.socket.destroy()],
  [
    'hangs up after it stored the upload',
    async (request) => {
      for await (const _ of request);
      request.socket.destroy();
    },
  ],
  ['is overloaded', responds(new ExchangeError('UNAVAILABLE', 'later'))],
  ['has a proxy that fails', replies(502, '<html>')],
];

describe('an upload', () => {
  it.each(FAILURES)('is sent again if the duchy %s', async (_what, failure) => {
    const exchange = await world.scripted();
    world.duchy.next = [failure];
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(world.duchy.uploads).toHaveLength(1);
    expect(world.types()).toEqual(['received', 'warning', 'fulfilled']);
  });

  it('is logged and sent again later if the duchy redirects, rejects it, or replies in an unknown format', async () => {
    const failures: [Behavior, 'rejected' | 'retrying', string][] = [
      [replies(307, '', { location: 'http://127.0.0.1:1/' }), 'retrying', 'status 307'],
      [replies(404, '{"error": 1}'), 'retrying', 'status 404'],
      ...(['UPLOAD_MISMATCH', 'UPLOAD_ALREADY_EXISTS', 'REQUISITION_NOT_FOUND'] as const).map(
        (reason) => [responds(new ExchangeError(reason, 'no')), 'rejected', reason] as never,
      ),
    ];
    const exchange = await world.scripted();
    const agent = exchange.agent();
    for (const [failure, type, why] of failures) {
      world.duchy.next = [failure];
      expect([why, await agent.once()]).toEqual([why, OPEN]);
      expect(world.log.at(-1)).toMatchObject({ type, why: expect.stringContaining(why) });
      expect(await world.shares()).toEqual(['streamly.r1.share']);
      // All rejections in this test happen during the wait after the first rejection, so only the first one is counted.
      expect(world.ledger.rejections.get(exchange.requisition.name!)?.count).toBe(
        type === 'rejected' ? 1 : undefined,
      );
    }
    expect(exchange.refusals).toEqual([]);
    expect(await agent.once()).toEqual(CLOSED);
    expect((await world.opened(world.duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 1));
    const seen = failures.flatMap(([, type]) => [type, 'resending']);
    expect(world.types()).toEqual(['received', 'warning', ...seen, 'fulfilled']);
  });

  it('counts as fulfilled if the duchy stored it and its response was lost', async () => {
    const exchange = await world.scripted();
    world.duchy.next = [
      (request, response) => {
        exchange.requisition.state = 'FULFILLED';
        return responds(new ExchangeError('UPLOAD_ALREADY_EXISTS', 'again'))(request, response);
      },
    ];
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(world.types()).toEqual(['received', 'warning', 'fulfilled']);
    expect(await world.shares()).toEqual([]);
  });

  it('is sent again if the duchy accepts it but does not report it to the exchange', async () => {
    const exchange = await world.scripted();
    world.duchy.onStored = () => {};
    const agent = exchange.agent();
    expect(await agent.once()).toEqual(OPEN);
    expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('has not reported it') });
    world.duchy.onStored = () => {
      exchange.requisition.state = 'FULFILLED';
    };
    expect(await agent.once()).toEqual(CLOSED);
    const [first, second] = world.duchy.uploads;
    expect(second!.parts).toEqual(first!.parts);
    expect(world.ledger.spending()).toHaveLength(3);
  });

  it('times out if the duchy never responds', async () => {
    const exchange = await world.scripted();
    const silence = () => {};
    world.duchy.next = [silence, silence, silence];
    const settings = { uploadTimeoutSeconds: 0.05 };
    const agent = exchange.agent({
      shareShuffle: { ...world.settings, folder: world.folder, allowHttp: true, ...settings },
    });
    expect(await agent.once()).toEqual(OPEN);
    expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('takes too long') });
  });

  it('fails after reading only a part of a response that does not end', async () => {
    const exchange = await world.scripted();
    let written = 0;
    world.duchy.next = [
      async (request, response) => {
        request.resume();
        response.writeHead(400);
        const piece = 'x'.repeat(1 << 16);
        while (!response.destroyed && written < 1000) {
          response.write(piece);
          written++;
          await sleep(1);
        }
      },
    ];
    expect(await exchange.agent().once()).toEqual(OPEN);
    expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('status 400') });
    expect(written).toBeLessThan(500);
  });

  it('fails with the error that the duchy returns before the upload has ended', async () => {
    const exchange = await world.scripted();
    world.duchy.next = [responds(new ExchangeError('UPLOAD_MISMATCH', 'early'))];
    expect(await exchange.agent().once()).toEqual(OPEN);
    expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('early') });
  });

  it('is not sent if the endpoint is missing, not public, not https, or not a host', async () => {
    const exchange = await world.scripted();
    const { endpoint } = world.duchy;
    const agent = exchange.agent({ shareShuffle: { ...world.settings, folder: world.folder } });
    try {
      for (const [bad, why] of [
        [undefined, 'no endpoint'],
        ['https://duchy.example/x', 'not the URL of a host'],
        ['duchy', 'not the URL of a host'],
        ['http://127.0.0.1:1', 'is not https'],
        ['https://10.0.0.1', 'not public'],
        ['https://[::1]:1', 'not public'],
        ['https://localhost:1', 'not public'],
      ]) {
        world.duchy.endpoint = bad as string;
        expect([bad, await agent.once()]).toEqual([bad, OPEN]);
        expect([bad, world.log.at(-1)]).toMatchObject([bad, { why: expect.stringContaining(why!) }]);
      }
    } finally {
      world.duchy.endpoint = endpoint;
    }
    expect(world.duchy.uploads).toEqual([]);
  });

  it('connects over TLS to a private endpoint from the settings', async () => {
    const exchange = await world.scripted();
    const { duchies } = world.settings;
    const endpoint = world.duchy.endpoint.replace('http:', 'https:');
    const pinned = { ...duchies, [ALPHA!]: { ...duchies[ALPHA!]!, endpoint } };
    const shareShuffle = { ...world.settings, duchies: pinned, folder: world.folder };
    expect(await exchange.agent({ shareShuffle }).once()).toEqual(OPEN);
    // The agent connects to the endpoint, but TLS fails, because the duchy in this test accepts only plain HTTP.
    expect(world.log.at(-1)).toMatchObject({ why: expect.stringContaining('does not respond') });
    expect(world.duchy.uploads).toEqual([]);
  });

  it('uses the endpoint from the settings instead of the one from the exchange', async () => {
    const exchange = await world.scripted();
    const { duchies } = world.settings;
    const pinned = { ...duchies, [ALPHA!]: { ...duchies[ALPHA!]!, endpoint: world.duchy.endpoint } };
    const endpoint = world.duchy.endpoint;
    world.duchy.endpoint = 'http://127.0.0.1:1';
    try {
      const shareShuffle = { ...world.settings, duchies: pinned, folder: world.folder, allowHttp: true };
      expect(await exchange.agent({ shareShuffle }).once()).toEqual(CLOSED);
    } finally {
      world.duchy.endpoint = endpoint;
    }
  });
});

describe('an upload that its duchy rejects', () => {
  const REQUISITION = `${PROVIDER}/requisitions/r1`;
  const MINUTE = 60_000;
  /** Makes the duchy reject the next 20 uploads. Returns a list to which the duchy adds each upload's parts. */
  const rejecting = (error: ExchangeError) => {
    const received: Buffer[][] = [];
    const reject: Behavior = async (request, response) => {
      received.push((await receive(request)).parts);
      await responds(error)(request, response);
    };
    world.duchy.next = Array(20).fill(reject);
    return received;
  };
  const clockAt = (time: { now: number }): Clock => ({
    now: () => time.now,
    sleep: async (ms) => {
      time.now += ms;
      await immediate();
    },
  });

  it('is sent again after increasing waits, and its requisition is refused after two hours', async () => {
    const received = rejecting(new ExchangeError('CERTIFICATE_IS_INVALID', 'untrusted'));
    const exchange = await world.scripted();
    const time = { now: NOW };
    const stop = new AbortController();
    const log = (event: AgentEvent) => {
      world.log.push(event);
      if (event.type === 'refused') stop.abort();
    };
    await exchange.agent({ clock: clockAt(time), pollMs: MINUTE, log }).run(stop.signal);
    const rejections = world.log.filter((event) => event.type === 'rejected');
    expect(rejections.map(({ inMs }) => inMs / MINUTE)).toEqual([1, 2, 4, 8, 16, 32, 60, 0]);
    expect(rejections[0]).toMatchObject({
      rejections: 1,
      most: 8,
      why: expect.stringContaining('CERTIFICATE_IS_INVALID): untrusted'),
      remedy: expect.stringContaining('trust your root'),
    });
    expect(time.now - NOW).toBeGreaterThanOrEqual(123 * MINUTE);
    expect(exchange.refusals).toEqual([{ justification: 'UNFULFILLABLE', message: 'UPLOAD_REJECTED' }]);
    expect(world.log.at(-1)).toMatchObject({ message: expect.stringContaining('rejected 8 times') });
    expect(received).toHaveLength(8);
    for (const parts of received) expect(parts).toEqual(received[0]);
    expect(world.ledger.spending()).toHaveLength(3);
    await exchange.agent().once();
    expect(await world.shares()).toEqual([]);
    expect(world.ledger.rejections.get(REQUISITION)).toBeUndefined();
  });

  it('is sent again on time, even after a wait for its duchies and an earlier poll', async () => {
    rejecting(new ExchangeError('CERTIFICATE_IS_INVALID', 'untrusted'));
    const exchange = await world.scripted();
    const { duchies } = exchange.requisition;
    delete exchange.requisition.duchies;
    // Use a clock that advances only when the test sets it.
    const time = { now: NOW };
    const clock: Clock = {
      now: () => time.now,
      sleep: async (ms, signal) => {
        for (const end = time.now + ms; time.now < end; ) await sleep(5, undefined, { signal: signal! });
      },
    };
    const lists = vi.spyOn(exchange.client, 'listRequisitions');
    const until = (isTrue: () => boolean) => vi.waitUntil(isTrue, { timeout: 90_000 });
    const count = (type: AgentEvent['type']) => world.types().filter((each) => each === type).length;
    const stop = new AbortController();
    const running = exchange.agent({ clock, pollMs: 0.75 * MINUTE }).run(stop.signal);
    try {
      await until(() => count('waiting') === 1);
      exchange.requisition.duchies = duchies!;
      time.now = NOW + 0.75 * MINUTE;
      await until(() => count('rejected') === 1);
      time.now = NOW + 1.5 * MINUTE;
      await until(() => lists.mock.calls.length === 3);
      // Advance to a minute after the rejection, when the upload is due again. The next regular poll would come later.
      time.now = NOW + 1.75 * MINUTE;
      await until(() => count('rejected') === 2);
    } finally {
      stop.abort();
      await running;
    }
  });

  it('is counted across restarts, once for each wait', async () => {
    const received = rejecting(new ExchangeError('UPLOAD_MISMATCH', 'no'));
    const exchange = await world.scripted();
    const time = { now: NOW };
    const once = () => {
      world.reopen();
      return exchange.agent({ clock: clockAt(time) }).once();
    };
    for (let count = 1; count < 8; count++) {
      // Run the agent twice. The second rejection comes before the wait is over, so it must not be counted.
      for (let i = 0; i < 2; i++) expect(await once()).toEqual(OPEN);
      expect(world.ledger.rejections.get(REQUISITION)).toMatchObject({ count, countedAt: time.now });
      time.now += 60 * MINUTE;
    }
    const spent = world.ledger.spending();
    expect(await once()).toEqual(OPEN);
    expect(await once()).toEqual(CLOSED);
    expect(exchange.refusals).toMatchObject([{ message: 'UPLOAD_REJECTED' }]);
    expect(received).toHaveLength(15);
    for (const parts of received) expect(parts).toEqual(received[0]);
    expect(world.ledger.spending()).toEqual(spent);
  });

  it('is fulfilled if the duchy accepts it later, which deletes its rejections', async () => {
    rejecting(new ExchangeError('CERTIFICATE_IS_INVALID', 'untrusted'));
    const exchange = await world.scripted();
    expect(await exchange.agent().once()).toEqual(OPEN);
    world.duchy.next = [];
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(exchange.refusals).toEqual([]);
    expect(world.ledger.rejections.get(REQUISITION)).toBeUndefined();
  });
});

it.each([
  ['3', 'waits that long between its attempts', [3000, 3000]],
  ['300', 'leaves the requisition open and retries it after that time', []],
])('if an overloaded duchy returns retry-after: %s, the agent %s', async (seconds, _what, expected) => {
  const exchange = await world.scripted();
  const busy = replies(503, 'busy', { 'retry-after': seconds });
  world.duchy.next = [busy, busy];
  const waits: number[] = [];
  const clock: Clock = { now: () => NOW, sleep: async (ms) => void waits.push(ms) };
  await exchange.agent({ clock }).once();
  // The agent adds a partly random backoff of at most 400 ms to each wait, so compare whole seconds only.
  expect(waits.map((ms) => Math.floor(ms / 1000) * 1000)).toEqual(expected);
  const retrying = world.log.find((event) => event.type === 'retrying');
  if (seconds === '300') expect(retrying).toMatchObject({ inMs: 300_000 });
  else expect(world.types()).toContain('fulfilled');
});
