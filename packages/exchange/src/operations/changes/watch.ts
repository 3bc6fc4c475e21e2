import type { ChangePage, PlacedChange } from '../../database/changes.ts';
import { partyOf } from '../../domain/access.ts';
import type { Exchange, Handler } from '../context.ts';
import type { ChangeEvent, Found } from './events.ts';
import { requireRoom } from './list.ts';
import { changeTokenExpired, startOf, tokenAt, viewChange } from './token.ts';

const MAX_EVENTS = 100;

export const watchChanges: Handler<'watchChanges'> = async (exchange, _call, { path, query }) => {
  const { feed } = exchange;
  const party = partyOf(path);
  const kinds = query['filter.kinds'];
  const follower = feed.follow(party);
  try {
    requireRoom(feed, party);
    let page = await follower.read(await startOf(exchange, party, query), MAX_EVENTS);
    const found = ({ changes, next }: ChangePage): Found => {
      const all = changes.map((placed) => eventOf(exchange, placed));
      const events = kinds === undefined ? all : all.filter(({ change }) => kinds.includes(change.kind));
      return { events, token: all.at(-1)?.token ?? tokenAt(exchange, party, next) };
    };
    if (page === undefined) throw changeTokenExpired();
    return {
      token: page.changes.length > 0 ? undefined : found(page).token,
      async next() {
        for (;;) {
          if (page === undefined) throw changeTokenExpired();
          const read: ChangePage = page;
          page = { ...read, changes: [] };
          if (read.changes.length > 0) return found(read);
          await follower.wait(read.next);
          if (!follower.isOpen || feed.stopping.aborted) return undefined;
          page = await follower.read(read.next, MAX_EVENTS);
        }
      },
      close: () => follower.close(),
    };
  } catch (error) {
    follower.close();
    throw error;
  }
};

/** Caches the event of each change. All watches of a party share the change objects, so they also share the events. */
const events = new WeakMap<PlacedChange, ChangeEvent>();

function eventOf(exchange: Exchange, placed: PlacedChange): ChangeEvent {
  let event = events.get(placed);
  if (event === undefined) {
    const { change, at } = placed;
    event = { token: tokenAt(exchange, change.party, at), change: viewChange(change) };
    events.set(placed, event);
  }
  return event;
}
