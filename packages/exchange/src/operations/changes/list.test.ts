import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../database/db.ts';
import { Feed } from '../../feed/feed.ts';
import { requireRoom } from './list.ts';

let feed: Feed;
beforeEach(() => {
  feed = new Feed({} as Database);
});
afterEach(() => feed.stop());

const MESSAGE = 'Too many wait for changes already';
const partyOf = (n: number) => `dataProviders/${n % 30}`;

it('has room for 3,000 who wait, of all parties, and for another one when one has left', () => {
  const followers = Array.from({ length: 3_000 }, (_, n) => feed.follow(partyOf(n)));
  requireRoom(feed, partyOf(0));
  feed.follow(partyOf(0));
  expect(() => requireRoom(feed, partyOf(0))).toThrow(MESSAGE);
  expect(() => requireRoom(feed, 'dataProviders/another')).toThrow(MESSAGE);
  followers[7]!.close();
  followers[7]!.close();
  requireRoom(feed, partyOf(0));
});
