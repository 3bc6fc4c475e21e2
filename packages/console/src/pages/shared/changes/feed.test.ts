import { type Change, ExchangeError } from '@measurement-exchange/contract';
import type { ExchangeClient } from '@measurement-exchange/sdk/client';
import { expect, it } from 'vitest';
import { MAX_KEPT, PAGE_SIZE, readFeed } from './feed.ts';

const change = (version: number) => ({ name: 'x', kind: 'PARTY', version, time: '' }) as unknown as Change;

/**
 * Returns a fake log of changes and its client. A page token is the number of changes before the page. Changes before
 * `first` are no longer kept.
 */
function logOf(length: number, first = 0) {
  const log = { length, first };
  const listChanges = async ({
    pageToken,
    from,
    pageSize = 50,
  }: {
    pageToken?: string;
    from?: string;
    pageSize?: number;
  }) => {
    const newest = Math.max(log.first, log.length - pageSize);
    const at = pageToken === undefined ? (from === 'NEWEST' ? newest : log.first) : Number(pageToken);
    if (at < log.first) throw new ExchangeError('CHANGE_TOKEN_EXPIRED', 'It is no longer kept.');
    const end = Math.min(log.length, at + pageSize);
    return {
      changes: Array.from({ length: end - at }, (_, i) => change(at + i)),
      nextPageToken: String(end),
    };
  };
  return { log, client: { listChanges } as unknown as ExchangeClient };
}
const { signal } = new AbortController();
const versions = ({ changes }: { changes: readonly Change[] }) => changes.map(({ version }) => version);

it('readFeed returns changes newest first, and puts new changes before those of the last read', async () => {
  const { log, client } = logOf(3);
  const first = await readFeed(client, 'p', undefined, signal);
  expect(versions(first)).toEqual([2, 1, 0]);
  log.length = 5;
  expect(versions(await readFeed(client, 'p', first, signal))).toEqual([4, 3, 2, 1, 0]);
});

it('readFeed starts over if the next changes are no longer in the log', async () => {
  const { log, client } = logOf(3);
  const first = await readFeed(client, 'p', undefined, signal);
  log.first = 10;
  log.length = 12;
  expect(versions(await readFeed(client, 'p', first, signal))).toEqual([11, 10]);
});

it('readFeed starts with the newest page, sets isCut if there are older changes, and keeps MAX_KEPT', async () => {
  expect((await readFeed(logOf(PAGE_SIZE - 1).client, 'p', undefined, signal)).isCut).toBe(false);
  const { log, client } = logOf(100_000);
  const cut = await readFeed(client, 'p', undefined, signal);
  expect(cut.isCut).toBe(true);
  expect(cut.changes).toHaveLength(PAGE_SIZE);
  expect(versions(cut)[0]).toBe(99_999);
  log.length += MAX_KEPT + 10;
  const kept = await readFeed(client, 'p', cut, signal);
  expect(versions(kept)[0]).toBe(100_000 + MAX_KEPT + 9);
  expect(kept.changes).toHaveLength(MAX_KEPT);
});
