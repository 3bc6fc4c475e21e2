import { DEFAULT_PAGE_SIZE, ExchangeError } from '@measurement-exchange/contract';
import type { ChangePage, Position } from '../../database/changes.ts';
import { partyOf } from '../../domain/access.ts';
import type { Feed, Follower } from '../../feed/feed.ts';
import type { Call, Exchange, Handler } from '../context.ts';
import { changeTokenExpired, startOf, tokenAt, viewChange } from './token.ts';

/**
 * The maximum number of rows that a filtered page reads. If none of these rows match, the page is empty, and the next
 * page continues after them.
 */
const MAX_LOOKED = 1000;

export const listChanges: Handler<'listChanges'> = async (exchange, call, { path, query }) => {
  const party = partyOf(path);
  const follower = exchange.feed.follow(party);
  try {
    const limit = query.pageSize ?? DEFAULT_PAGE_SIZE;
    const search = { kinds: query['filter.kinds'], limit };
    const start = await startOf(exchange, party, query, limit);
    let page = await lookFor(follower, start, search);
    if (page.changes.length === 0 && query.waitSeconds) {
      requireRoom(exchange.feed, party);
      page = await waitFor(exchange, call, follower, page, search, query.waitSeconds);
    }
    return {
      changes: page.changes.map(({ change }) => viewChange(change)),
      nextPageToken: tokenAt(exchange, party, page.next),
    };
  } finally {
    follower.close();
  }
};

interface Search {
  kinds: readonly string[] | undefined;
  limit: number;
}

async function lookFor(
  follower: Follower,
  after: Position | 'OLDEST',
  { kinds, limit }: Search,
): Promise<ChangePage> {
  const page = await follower.read(after, kinds === undefined ? limit : MAX_LOOKED);
  if (page === undefined) throw changeTokenExpired();
  if (kinds === undefined) return page;
  const wanted = page.changes.filter(({ change }) => kinds.includes(change.kind));
  const changes = wanted.slice(0, limit);
  return { ...page, changes, next: changes.length < wanted.length ? changes.at(-1)!.at : page.next };
}

/** Waits for a change. Returns an empty page if the time is up, the caller has disconnected, or the exchange stops. */
async function waitFor(
  { feed }: Exchange,
  call: Call,
  follower: Follower,
  from: ChangePage,
  search: Search,
  seconds: number,
): Promise<ChangePage> {
  let page = from;
  let isOver = false;
  const end = () => {
    isOver = true;
    follower.endWait();
  };
  const timer = setTimeout(end, seconds * 1000);
  try {
    while (page.changes.length === 0 && !isOver && !feed.stopping.aborted) {
      await call.waitAside(async (gone) => {
        gone.addEventListener('abort', end);
        if (gone.aborted) end();
        else await follower.wait(page.next);
      });
      if (!isOver) page = await lookFor(follower, page.next, search);
    }
  } finally {
    clearTimeout(timer);
  }
  return page;
}

const MAX_OF_PARTY = 500;
const MAX_FOLLOWERS = 3_000;

export function requireRoom(feed: Feed, party: string): void {
  if (feed.followersOf(party) <= MAX_OF_PARTY && feed.followers <= MAX_FOLLOWERS) return;
  throw new ExchangeError('RATE_LIMITED', 'Too many requests are waiting for changes: retry later.', {
    retryAfterSeconds: 5,
  });
}
