import { type Change, ExchangeError } from '@measurement-exchange/contract';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';
import { type Follower, type FollowOptions, followChanges, type Wake } from './follow.ts';
import type { ExchangeClient } from './types.ts';
import type { WatchArguments } from './watch.ts';

const PARENT = 'measurementConsumers/acme';
const nameOf = (id: string) => `${PARENT}/measurements/${id}`;
const changeOf = (id: string, version = 1): Change =>
  ({ name: nameOf(id), kind: 'MEASUREMENT', version, time: '2026-01-01T00:00:00Z' }) as Change;
const POLL_MS = 1_000;

/** A watch that the test controls. */
interface Driven extends WatchArguments {
  /** Reports a change. Resolves when the follower has received it. */
  tell(change: Change): Promise<void>;
  fail(error: unknown): Promise<void>;
}
let watches: Driven[];
let said: string[];
let stop: AbortController;
let client: ExchangeClient;

beforeEach(() => {
  vi.useFakeTimers();
  watches = [];
  said = [];
  stop = new AbortController();
  client = { watch: (args: WatchArguments) => driven(args) } as unknown as ExchangeClient;
});
afterEach(() => vi.useRealTimers());

async function* driven(args: WatchArguments): AsyncGenerator<Change> {
  let step = Promise.withResolvers<Change>();
  args.signal!.addEventListener('abort', () => step.reject(args.signal!.reason));
  watches.push({
    ...args,
    tell: async (change) => {
      step.resolve(change);
      await settled();
    },
    fail: async (error) => {
      step.reject(error);
      await settled();
    },
  });
  for (;;) {
    const change = await step.promise;
    step = Promise.withResolvers();
    yield change;
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0);

function follow(options: Partial<FollowOptions> = {}): Follower {
  return followChanges(client, {
    parent: PARENT,
    kinds: ['MEASUREMENT'],
    signal: stop.signal,
    clock: { ...systemClock, now: () => Date.now() },
    onPolling: (why) => said.push(`polling: ${why}`),
    onFollowing: () => said.push('following'),
    ...options,
  });
}

/** Returns the resolved value of `next` as text, or undefined if it does not resolve within `ms`. */
async function within(ms: number, next: Promise<Wake>): Promise<string | undefined> {
  let woken: Wake | undefined;
  next.then((wake) => {
    woken = wake;
  });
  await vi.advanceTimersByTimeAsync(ms);
  if (woken === undefined) return undefined;
  const changes = woken.changes.map(({ name, version }) => `${name.split('/').at(-1)} ${version}`);
  return [...(woken.poll ? ['poll'] : []), ...changes].join(', ');
}

/** Creates a follower, and takes the two polls that are due: one at the start, and one after its watch starts. */
async function following(options?: Partial<FollowOptions>) {
  const follower = follow(options);
  expect(await within(0, follower.next(POLL_MS))).toBe('poll');
  const watch = watches.at(-1)!;
  watch.onFollowing!();
  expect(await within(0, follower.next(POLL_MS))).toBe('poll');
  return { follower, watch };
}

it('a follower polls immediately, and once more when its watch starts', async () => {
  const follower = follow();
  expect(await within(0, follower.next(3600_000))).toBe('poll');
  const next = follower.next(3600_000);
  expect(await within(1_000, next)).toBeUndefined();
  watches[0]!.onFollowing!();
  expect(await within(0, next)).toBe('poll');
  // A repeated onFollowing does not cause another poll.
  watches[0]!.onFollowing!();
  expect(await within(29_000, follower.next(POLL_MS))).toBeUndefined();
});

it('a follower returns the latest change of each resource, and polls every 30 s or at a longer interval', async () => {
  const { follower, watch } = await following();
  const next = follower.next(POLL_MS);
  await watch.tell(changeOf('a'));
  expect(await within(0, next)).toBe('a 1');
  for (const change of [changeOf('a', 2), changeOf('b'), changeOf('a', 3)]) await watch.tell(change);
  expect(await within(0, follower.next(POLL_MS))).toBe('a 3, b 1');
  const net = follower.next(POLL_MS);
  expect(await within(29_000, net)).toBeUndefined();
  expect(await within(1_000, net)).toBe('poll');
  // While the watch works, 30 seconds is the minimum poll interval, so the follower uses a longer interval unchanged.
  const slow = follower.next(60_000);
  expect(await within(59_000, slow)).toBeUndefined();
  expect(await within(1_000, slow)).toBe('poll');
});

it('a follower polls if more than 50 resources changed', async () => {
  const { follower, watch } = await following();
  for (let i = 0; i <= 50; i++) await watch.tell(changeOf(`m${i}`));
  expect(await within(0, follower.next(POLL_MS))).toBe('poll');
});

it('a follower polls at the given interval while its watch fails, and reports failure and recovery once', async () => {
  const { follower, watch } = await following();
  const next = follower.next(POLL_MS);
  watch.onRetry!(new Error('no stream'));
  watch.onRetry!(new Error('no stream either'));
  expect(await within(POLL_MS, next)).toBe('poll');
  expect(await within(POLL_MS - 1, follower.next(POLL_MS))).toBeUndefined();
  expect(said).toEqual(['polling: no stream']);
  watch.onFollowing!();
  expect(await within(1, follower.next(POLL_MS))).toBe('poll');
  expect(await within(POLL_MS, follower.next(POLL_MS))).toBeUndefined();
  expect(said).toEqual(['polling: no stream', 'following']);
});

it('a follower restarts a failed watch with exponential backoff', async () => {
  const follower = follow();
  await settled();
  for (let failures = 1; failures <= 5; failures++) {
    expect(watches).toHaveLength(failures);
    await watches.at(-1)!.fail(new Error('404'));
    await vi.advanceTimersByTimeAsync(200 * 2 ** (failures - 1));
  }
  expect(said).toEqual(['polling: 404']);
  watches.at(-1)!.onFollowing!();
  expect(said).toEqual(['polling: 404', 'following']);
  follower.close();
});

it('a follower starts a new watch and polls if its change token expired, and reports only a repetition', async () => {
  const { follower, watch } = await following();
  const next = follower.next(POLL_MS);
  await watch.fail(new ExchangeError('CHANGE_TOKEN_EXPIRED', 'Too old.'));
  expect(watches).toHaveLength(2);
  expect(watches[1]!.pageToken).toBeUndefined();
  expect(await within(1_000, next)).toBeUndefined();
  watches[1]!.onFollowing!();
  expect(await within(0, next)).toBe('poll');
  expect(said).toEqual([]);
  // If the exchange also rejects the new watch, the follower must not open another one immediately.
  await watches[1]!.fail(new ExchangeError('CHANGE_TOKEN_EXPIRED', 'Too old.'));
  await watches[2]!.fail(new ExchangeError('CHANGE_TOKEN_EXPIRED', 'Too old.'));
  expect(watches).toHaveLength(3);
  expect(said).toEqual(['polling: Too old.']);
});

it('100 followers share one watch, receive only changes of their resources, and the last one ends it', async () => {
  const { follower: first, watch } = await following();
  const others = Array.from({ length: 99 }, (_, i) => follow({ name: nameOf(`m${i}`) }));
  for (const other of others) expect(await within(0, other.next(POLL_MS))).toBe('poll');
  const nexts = others.map((other) => other.next(POLL_MS));
  await watch.tell(changeOf('m7'));
  expect(await within(0, nexts[7]!)).toBe('m7 1');
  expect(await within(0, nexts[8]!)).toBeUndefined();
  expect(watches).toHaveLength(1);
  for (const other of others) other.close();
  expect(watch.signal!.aborted).toBe(false);
  first.close();
  first.close();
  expect(watch.signal!.aborted).toBe(true);
  follow();
  expect(watches).toHaveLength(2);
});

it('a follower polls after the delay of pollIn, and rejects if its signal is aborted', async () => {
  const { follower } = await following();
  follower.pollIn(5_000);
  const next = follower.next(POLL_MS);
  expect(await within(4_999, next)).toBeUndefined();
  expect(await within(1, next)).toBe('poll');
  const last = follower.next(POLL_MS);
  stop.abort(new Error('enough'));
  await expect(last).rejects.toThrow('enough');
  expect(watches[0]!.signal!.aborted).toBe(true);
});

it('a callback that throws fails only its own follower', async () => {
  const { follower: other, watch } = await following();
  const follower = follow({
    onPolling: () => {
      throw new Error('no polling');
    },
  });
  const next = follower.next(POLL_MS);
  await within(0, next);
  const failing = expect(follower.next(POLL_MS)).rejects.toThrow('no polling');
  watch.onRetry!(new Error('no stream'));
  await settled();
  await failing;
  expect(said).toEqual(['polling: no stream']);
  expect(await within(POLL_MS, other.next(POLL_MS))).toBe('poll');
});

it('a follower of a resource receives changes of the resources below it', async () => {
  const { follower, watch } = await following({ name: nameOf('a'), kinds: ['MEASUREMENT', 'REQUISITION'] });
  await watch.tell(changeOf('ab'));
  await watch.tell(changeOf('a/requisitions/r', 2));
  expect(await within(0, follower.next(POLL_MS))).toBe('r 2');
});
