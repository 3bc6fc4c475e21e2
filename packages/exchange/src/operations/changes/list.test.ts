import { randomBytes } from 'node:crypto';
import type { RequestOf } from '@measurement-exchange/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../database/db.ts';
import { ChangeBus } from '../../feed/changeBus.ts';
import { Feed } from '../../feed/feed.ts';
import type { Call, Exchange } from '../context.ts';
import { PageTokens } from '../paging.ts';
import { listChanges, requireRoom } from './list.ts';

const PARTY = 'dataProviders/x';
/** The kinds of the changes in the log, in order. */
let log: string[];
let feed: Feed;
beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  /** Returns a page of the log as the real statement does. */
  const query = async (_statement: unknown, [, , seq, limit]: [string, string, bigint | null, number]) => {
    const all = log.map((kind, i) => ({
      at: { xid: '1', seq: BigInt(i + 1) },
      change: { party: PARTY, name: `${PARTY}/${i + 1}`, kind, version: 1, time: '' },
    }));
    const page = all.filter(({ at }) => at.seq > (seq ?? 0n)).slice(0, limit);
    const row = { isKept: true, start: { xid: '1', seq: 0n }, ahead: undefined };
    return page.length === 0 ? [{ ...row, placed: undefined }] : page.map((placed) => ({ ...row, placed }));
  };
  feed = new Feed({ query } as unknown as Database, new ChangeBus());
});
afterEach(() => {
  feed.stop();
  vi.useRealTimers();
});

const MESSAGE = 'Too many requests are waiting for changes';
const partyOf = (n: number) => `dataProviders/${n % 30}`;

it('accepts 3,000 waiting requests of all parties, rejects more, and accepts another when one has left', () => {
  const followers = Array.from({ length: 3_000 }, (_, n) => feed.follow(partyOf(n)));
  requireRoom(feed, partyOf(0));
  feed.follow(partyOf(0));
  expect(() => requireRoom(feed, partyOf(0))).toThrow(MESSAGE);
  expect(() => requireRoom(feed, 'dataProviders/another')).toThrow(MESSAGE);
  followers[7]!.close();
  followers[7]!.close();
  requireRoom(feed, partyOf(0));
});

describe('a page', () => {
  const pageTokens = new PageTokens(randomBytes(32));
  const call = {
    waitAside: (wait: (gone: AbortSignal) => Promise<void>) => wait(new AbortController().signal),
  } as Call;
  const list = (query: object) =>
    listChanges({ feed, pageTokens } as Exchange, call, {
      path: `${PARTY}/changes`,
      query: { from: 'OLDEST', ...query },
    } as RequestOf<'listChanges'>);
  const numbers = ({ changes }: { changes: { name: string }[] }) =>
    changes.map(({ name }) => Number(name.split('/').at(-1)));

  it('with a filter continues after the last change that it returned, not after the last one that it read', async () => {
    log = ['PARTY', 'MEASUREMENT', 'PARTY', 'MEASUREMENT', 'MEASUREMENT', 'PARTY'];
    const found: number[][] = [];
    let pageToken: string | undefined;
    for (let pages = 0; pages < 4; pages++) {
      const page = await list({ pageSize: 1, 'filter.kinds': ['MEASUREMENT'], pageToken });
      found.push(numbers(page));
      pageToken = page.nextPageToken;
    }
    expect(found).toEqual([[2], [4], [5], []]);
    log.push('PARTY', 'MEASUREMENT');
    expect(numbers(await list({ pageSize: 5, pageToken }))).toEqual([7, 8]);
  });

  it('with a filter reads at most 1,000 changes', async () => {
    log = [...Array(999).fill('PARTY'), 'MEASUREMENT', 'MEASUREMENT'];
    expect(numbers(await list({ pageSize: 2, 'filter.kinds': ['MEASUREMENT'] }))).toEqual([1000]);
  });

  it('returns empty after exactly waitSeconds if there is no change', async () => {
    let isDone = false;
    const waits = list({ waitSeconds: 20 }).then((page) => {
      isDone = true;
      return page;
    });
    await vi.advanceTimersByTimeAsync(19_999);
    expect(isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await waits).changes).toEqual([]);
    expect(feed.followers).toBe(0);
  });
});
