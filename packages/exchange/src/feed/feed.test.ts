import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database, Statement } from '../database/db.ts';
import { ChangeBus } from './changeBus.ts';
import { Feed } from './feed.ts';

const AT = { xid: '5', seq: 1n };
let asked: { name: string; values: unknown[] }[];
let movedOn: () => Promise<string[]>;
let bus: ChangeBus;
let feed: Feed;
beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  bus = new ChangeBus();
  movedOn = async () => [];
  const query = async ({ name }: Statement<unknown>, values: unknown[]) => {
    asked.push({ name, values });
    if (name === 'changes_moved_on') return movedOn();
    return [{ isKept: true, start: AT, ahead: undefined, placed: undefined }];
  };
  feed = new Feed({ query } as unknown as Database, bus);
});
afterEach(() => {
  feed.stop();
  vi.useRealTimers();
});

const looks = () => asked.filter(({ name }) => name === 'changes_moved_on');
const reads = (party: string) =>
  asked.filter(({ name, values }) => name !== 'changes_moved_on' && values[0] === party);
/** Starts to wait for a change after the position `AT`. `isWaiting` returns true until the wait ends. */
function follow(party: string) {
  const follower = feed.follow(party);
  let isWaiting = true;
  void follower.wait(AT).then(() => {
    isWaiting = false;
  });
  return { close: () => follower.close(), isWaiting: () => isWaiting };
}

it('the feed polls for missed changes every two seconds while it has followers, even after a failed poll', async () => {
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks()).toEqual([]);
  const follower = follow('dataProviders/a');
  movedOn = () => Promise.reject(new Error('away'));
  await vi.advanceTimersByTimeAsync(2_000);
  movedOn = async () => [];
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looks().map(({ values }) => values)).toEqual(Array(2).fill([['dataProviders/a'], ['5'], [1n]]));
  follower.close();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks()).toHaveLength(2);
});

it('the feed wakes only the parties that have new changes', async () => {
  follow('dataProviders/a');
  follow('dataProviders/b');
  const woken = vi.fn();
  bus.on('changed', woken);
  await vi.advanceTimersByTimeAsync(1_000);
  const before = [reads('dataProviders/a').length, reads('dataProviders/b').length];
  movedOn = async () => ['dataProviders/b'];
  await vi.advanceTimersByTimeAsync(1_000);
  expect(woken.mock.calls).toEqual([[['dataProviders/b']]]);
  expect([reads('dataProviders/a').length, reads('dataProviders/b').length]).toEqual([
    before[0],
    before[1]! + 1,
  ]);
});

it('the feed reads immediately for the first follower of a party, but not for the second one', async () => {
  follow('dataProviders/a');
  await vi.advanceTimersByTimeAsync(0);
  expect(reads('dataProviders/a')).toHaveLength(1);
  follow('dataProviders/a');
  await vi.advanceTimersByTimeAsync(0);
  expect(reads('dataProviders/a')).toHaveLength(1);
});

it('closing one follower does not end the waits of the others', async () => {
  const [first, second] = [follow('dataProviders/a'), follow('dataProviders/a')];
  await vi.advanceTimersByTimeAsync(0);
  expect([feed.followers, feed.followersOf('dataProviders/a'), feed.followersOf('dataProviders/b')]).toEqual([
    2, 2, 0,
  ]);
  first.close();
  await vi.advanceTimersByTimeAsync(0);
  expect([first.isWaiting(), second.isWaiting()]).toEqual([false, true]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looks()).toHaveLength(1);
});
